import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { plural } from '../decide/wording.ts'
import type { Workshop } from '../engine/open.ts'
import { nullIfMissing } from '../git/bare-repository.ts'
import { localIsolation } from '../git/isolation.ts'
import { gitRunner } from '../git/runner.ts'
import { uncommittedPaths } from '../git/uncommitted.ts'
import { shortRef } from '../model/refs.ts'
import type { Scope } from '../spec/scope.ts'

type Env = Readonly<Record<string, string>>

/**
 * What lies in the person's checkout and is not used: winnow reads the default branch only. The checkout is
 * looked at and never touched.
 */
export async function unusedWork(
  workshop: Workshop,
  specPath: string | null,
  env: Env,
  scope: Scope | null = null,
): Promise<string[]> {
  const { topLevel } = workshop.checkout
  if (topLevel === null || workshop.defaultBranch === null) return []
  const branch = workshop.local
    ? shortRef(workshop.defaultBranch)
    : `${shortRef(workshop.defaultBranch)} of the remote`
  const sentences = [
    await specSentence(workshop, topLevel, specPath, branch),
    ...(await dirtySentences(topLevel, specPath, env, scope)),
    await unpushedSentence(workshop, topLevel, env, branch),
  ]
  return sentences.filter(sentence => sentence !== null)
}

async function specSentence(
  workshop: Workshop,
  topLevel: string,
  specPath: string | null,
  branch: string,
): Promise<string | null> {
  if (specPath === null) return null
  const here = await readFile(join(topLevel, specPath), 'utf8').catch(nullIfMissing)
  const there = await committedText(workshop, specPath)
  if (here === null || there === null || unified(here) === unified(there)) return null
  return `${specPath} in the work tree is not what ${branch} has: the committed one is used`
}

function unified(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

export async function committedText(
  { repository, defaultBranch }: Workshop,
  path: string,
): Promise<string | null> {
  if (defaultBranch === null) return null
  const oid = (await repository.remoteRefs([defaultBranch])).refs.get(defaultBranch)
  if (oid === undefined) return null
  await repository.fetch([{ ref: defaultBranch, oid }])
  const entry = await repository.entryAt((await repository.commit(oid)).tree, path)
  return entry?.type === 'blob' ? (await repository.blob(entry.oid)).toString('utf8') : null
}

/** What may be changed by experiments and is changed here is most likely meant to be measured. */
async function dirtySentences(
  topLevel: string,
  specPath: string | null,
  env: Env,
  scope: Scope | null,
): Promise<string[]> {
  const paths = (await uncommittedPaths(topLevel, env)).filter(path => path !== specPath)
  const inside = paths.filter(path => scope?.isMutable(path) === true)
  const others = paths.filter(path => !inside.includes(path))
  return [
    ...(inside.length === 0
      ? []
      : [
          `${plural(inside.length, 'change')} inside scope.mutable not committed, so not measured: ${few(inside)}`,
        ]),
    ...(others.length === 0
      ? []
      : [`${plural(others.length, 'change')} in the work tree not committed and not used: ${few(others)}`]),
  ]
}

function few(paths: readonly string[]): string {
  return paths.slice(0, 3).join(', ') + (paths.length > 3 ? ', …' : '')
}

/** A remote's tip that is not in the checkout at all is passed over: the count is then of all that is not fetched. */
async function unpushedSentence(
  { repository, defaultBranch, local }: Workshop,
  topLevel: string,
  env: Env,
  branch: string,
): Promise<string | null> {
  if (local || defaultBranch === null) return null
  const tip = (await repository.remoteRefs([defaultBranch])).refs.get(defaultBranch)
  if (tip === undefined) return null
  const git = gitRunner(localIsolation(topLevel, env))
  const count = await git.run({
    args: ['rev-list', '--count', '--ignore-missing', 'HEAD', `^${tip}`],
    answers: [128],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? Number(stdout.trim()) : 0),
  })
  return count === 0 ? null : `${plural(count, 'local commit')} not on ${branch}: not used until pushed there`
}
