import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openRepositoryContext } from '../src/engine/campaign/open.ts'
import { openController, requireCampaign, runCampaign } from '../src/engine/controller/run.ts'
import { readCommittedSpec, startCampaign } from '../src/engine/campaign/start.ts'

/** Whoever has what it waited for sleeps no longer. */
function onlyAborted(error: unknown): void {
  if (!(error instanceof Error && error.name === 'AbortError')) throw error
}

/** A repository with a bare remote, and winnow on it with a real clock and nobody watching. */
export interface Site {
  /** Milliseconds that a whole run took. */
  run(): Promise<number>
  ended(): Promise<number>
  remove(): Promise<void>
}

export async function site(files: Record<string, string>): Promise<Site> {
  const root = mkdtempSync(join(tmpdir(), 'winnow-bench-'))
  const repo = join(root, 'repo')
  const env = { PATH: process.env['PATH'] ?? '', HOME: root }
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', repo, '-c', 'user.name=n', '-c', 'user.email=e', ...args], { env })
  mkdirSync(repo)
  git('init', '-q', '-b', 'main')
  git('init', '-q', '--bare', '-b', 'main', join(root, 'remote.git'))
  git('remote', 'add', 'origin', join(root, 'remote.git'))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(repo, path)), { recursive: true })
    writeFileSync(join(repo, path), content)
  }
  git('add', '-A')
  git('commit', '-q', '-m', 'start')
  git('push', '-q', 'origin', 'main')
  const workshop = await openRepositoryContext({
    directory: repo,
    env,
    cacheDir: join(root, 'cache'),
    remote: null,
    prefix: 'optimize',
    by: { run_id: 'bench', attempt: 1, actor: 'bench' },
    version: '0.0.0',
    clock: {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(onlyAborted),
    },
    random: { hex: bytes => randomBytes(bytes).toString('hex'), fraction: () => Math.random() },
    faults: { reach: () => {} },
    progress: { say: () => {} },
  })
  const place = workshop.openCampaign('size')
  await startCampaign(place, await readCommittedSpec(place, '.winnow/size.yaml'), { fresh: false })
  const { signal } = new AbortController()
  return {
    async run() {
      const began = performance.now()
      await runCampaign(await openController(place, signal), { signal, watch: false })
      return performance.now() - began
    },
    ended: async () => (await requireCampaign(place)).loaded.campaign.ended,
    async remove() {
      await workshop.repository.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
