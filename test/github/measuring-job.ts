import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { givenOrder } from '../../src/engine/given-order.ts'
import { bringOrderedTrees } from '../../src/engine/ordered-trees.ts'
import { openRepository } from '../../src/git/repository.ts'
import { measure } from '../../src/measure/measure.ts'
import { actionsRunId, parcelFile, parcelled, parcelName } from '../../src/model/parcel.ts'
import { campaignRefs } from '../../src/model/refs.ts'
import type { Report } from '../../src/model/report.ts'
import { ENV } from '../engine/post.ts'
import type { EmulatedGithub } from './emulator/github.ts'
import type { RunRecord } from './emulator/world.ts'

/** Runs that wait for a machine, the oldest first. */
export function waitingRuns({ world }: EmulatedGithub): RunRecord[] {
  return world.runs.filter(({ status }) => status === 'queued')
}

/** A job of winnow-measure.yml: a clone with the branches of the repository and no token, one order, one artifact. */
export async function measuringJob(github: EmulatedGithub, run: RunRecord): Promise<Report> {
  const report = await measuredIn(github, run)
  leave(github, run, report)
  return report
}

/** Ends a run with what claims to be the report of its order. */
export function leave(github: EmulatedGithub, run: RunRecord, report: Report | string): void {
  const text = typeof report === 'string' ? report : parcelled(report)
  github.finish(run, 'success', { [parcelName(run.title)]: { [parcelFile(run.title)]: text } })
}

export async function measuredIn(github: EmulatedGithub, run: RunRecord): Promise<Report> {
  const root = mkdtempSync(join(tmpdir(), 'winnow-job-'))
  const clone = join(root, 'clone.git')
  // No refs of pull requests: a job gets every branch, and nothing else.
  execFileSync('git', ['init', '-q', '--bare', clone], { env: ENV })
  execFileSync('git', ['-C', clone, 'fetch', '-q', github.bare, '+refs/heads/*:refs/heads/*'], { env: ENV })
  const repository = await openRepository({
    dir: join(root, 'repository.git'),
    remote: clone,
    prefix: 'optimize',
    local: true,
    env: ENV,
  })
  try {
    const { refs } = await repository.remoteRefs(['refs/heads/*'])
    await repository.fetch([
      {
        ref: campaignRefs('optimize', 'size').state,
        oid: refs.get(campaignRefs('optimize', 'size').state) ?? '',
      },
    ])
    const state = refs.get(campaignRefs('optimize', 'size').state) ?? ''
    const given = await givenOrder(repository, { tip: state, id: run.title, now: Date.now() })
    if (!given.wanted) throw new Error(given.why)
    const { order, spec } = given
    await bringOrderedTrees(repository, order)
    return await measure({
      order,
      spec,
      runId: actionsRunId(run.id, 1),
      repository,
      workDir: join(root, 'work'),
      sharedRoot: null,
      env: ENV,
      now: () => Date.now(),
      monotonic: () => performance.now(),
      signal: new AbortController().signal,
      onStart: async () => {},
    })
  } finally {
    await repository.close()
    rmSync(root, { recursive: true, force: true })
  }
}
