import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { HarnessError } from '../errors.ts'
import type { Spec } from '../spec/schema.ts'
import { buildCommonEnvironment } from './environment.ts'
import { layOutTrusted } from './lay-out.ts'
import { readFailed } from './output/read-failed.ts'
import type { HarnessOutput } from './output/printed.ts'
import { readScore } from './output/read-score.ts'
import type { Owner } from './process/reaper.ts'
import { lowerPriority } from './process/low-priority.ts'
import { removeAll } from './remove.ts'
import { clearHome } from './scrub.ts'
import { snapshotEverything } from './seal.ts'
import type { Session } from './session.ts'
import { type SidePaths, getSidePaths } from './side-paths.ts'
import { copyForUser, changeOwner, isFolder } from './users/give.ts'

type ScoreRunSpec = NonNullable<Spec['measurement']['score']>

/** The scorer comes from the pin, laid out where no experiment code ever runs (invariant 4). */
export async function prepareScore(session: Session): Promise<void> {
  if (session.input.spec.measurement.score === null) return
  const dir = join(session.input.workDir, 'trusted')
  await layOutTrusted(session, dir)
  session.trusted = { dir, snapshot: snapshotEverything(dir, [], session.input.repository.objectFormat) }
}

/** Runs after every process of the candidate is dead, and reads only what those left in the out directory. */
export async function runScore(session: Session, score: ScoreRunSpec, seed: number): Promise<HarnessOutput> {
  const { trusted, input, paths } = session
  if (trusted === null) throw new Error("the scorer's tree was not laid out")
  const own = getSidePaths(trusted.dir)
  for (const path of [own.tmp, own.stdout, own.stderr]) await removeAll(path)
  await mkdir(own.tmp, { recursive: true })
  const { owner, supervisor } = session.scorer
  const out = owner === null ? await ensureFolder(paths.out) : await giveOutputs(session, own, owner)
  const ended = await supervisor.run({
    command: input.beside ? lowerPriority(score.command) : score.command,
    cwd: join(own.tree, input.spec.measurement.working_directory),
    env: {
      ...buildCommonEnvironment(session.allowed, own, owner),
      WINNOW_OUT_DIR: out,
      WINNOW_SEED: String(seed),
    },
    stdout: own.stdout,
    stderr: own.stderr,
    timeoutSeconds: score.timeout_seconds,
    signal: input.signal,
  })
  trusted.snapshot = snapshotEverything(trusted.dir, [], input.repository.objectFormat)
  if (ended.timedOut) throw toScorerError(`ran longer than ${score.timeout_seconds} s`, own)
  if (ended.exitCode !== 0) throw toScorerError(`ended with ${ended.exitCode ?? ended.signal}`, own)
  return readScore(own.stdout, score, input.spec.metric.primary.name)
}

/** What a candidate removed, or put something else in the place of, is an empty folder: the scorer says what that is worth. */
async function ensureFolder(out: string): Promise<string> {
  if (isFolder(out)) return out
  await removeAll(out)
  await mkdir(out, { recursive: true })
  return out
}

/** A copy, so that nothing of a side changes hands; its own home and places are as empty as at the first time. */
async function giveOutputs({ input, paths }: Session, own: SidePaths, owner: Owner): Promise<string> {
  await clearHome(own, owner)
  await changeOwner(own.tmp, owner)
  await removeAll(own.out)
  await copyForUser(owner, { from: paths.out, room: join(input.workDir, 'handed'), to: own.out })
  return own.out
}

function toScorerError(how: string, printed: Pick<SidePaths, 'stdout' | 'stderr'>): HarnessError {
  const output = readFailed(printed)
  return new HarnessError(`the scorer ${how}`, output === null ? {} : { output })
}
