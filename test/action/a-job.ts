import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Git, gitIn, scratch } from '../git/scratch.ts'
import type { Project } from '../cli/project.ts'

/** What actions/checkout leaves with `fetch-depth: 0`: every branch as the remote's, one of them checked out. */
export function jobClone(remote: string, branch: string): { dir: string; git: Git } {
  const dir = join(scratch('winnow-job-'), 'repository')
  writeEmptyRepository(dir, remote)
  const git = gitIn(dir)
  git('fetch', '-q', '--no-tags', '--no-auto-maintenance', 'origin', '+refs/heads/*:refs/remotes/origin/*')
  git('checkout', '-q', '-B', branch, `refs/remotes/origin/${branch}`)
  return { dir, git }
}

/** What `git init` and `git remote add` leave: two processes fewer for every job. */
function writeEmptyRepository(dir: string, remote: string): void {
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
    mkdirSync(join(dir, '.git', folder), { recursive: true })
  writeFileSync(join(dir, '.git/HEAD'), 'ref: refs/heads/main\n')
  const core = 'repositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true'
  const origin = `url = ${JSON.stringify(remote)}\n\tfetch = +refs/heads/*:refs/remotes/origin/*`
  writeFileSync(join(dir, '.git/config'), `[core]\n\t${core}\n[remote "origin"]\n\t${origin}\n`)
}

interface Issued {
  id: string
  base: { commit: string; tree: string }
  candidates: { label: string; head: string; tree: string }[]
}

/** The newest order of the ledger, as its event has it. */
export async function lastOrder(person: Project): Promise<Issued> {
  const { out } = await person.winnow('log', '--json')
  const events: { kind: string }[] = out
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  const issued = events.findLast(({ kind }) => kind === 'order-issued')
  return JSON.parse(JSON.stringify(issued))
}

/** Until a file is there: whoever writes it tells that way how far it is. */
export async function appears(file: string): Promise<void> {
  while (!existsSync(file)) await setTimeout(20)
}

/** Of whatever process of this user runs now, as any of its programs could read it. */
export function everyEnvironment(): string {
  const ids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return ids.map(id => readable(`/proc/${id}/environ`)).join('\0')
}

/** Empty where it has gone meanwhile. */
export function readable(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
