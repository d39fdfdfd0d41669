import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const GIBIBYTE = 2 ** 30

/** Most tests make small repositories and throw them away: memory is the place for that where there is enough. */
function scratchDirectory(): string {
  if (!existsSync('/dev/shm')) return tmpdir()
  const { bavail, bsize } = statfsSync('/dev/shm')
  return bavail * bsize > 2 * GIBIBYTE ? '/dev/shm' : tmpdir()
}

/** npm names a folder for each one above a clone, and users of sides are refused one that anybody could still make. */
function foldersThatExist(): string {
  return (process.env['PATH'] ?? '')
    .split(':')
    .filter(folder => existsSync(folder))
    .join(':')
}

/** Begun last, one of these would run alone at the end: their size does not show how long they take. */
const LONG_FOR_THEIR_SIZE = [
  'action/tick.test.ts',
  'kill/anywhere.test.ts',
  'github/campaign.test.ts',
  'local-action/local-action.test.ts',
  'github/runner/events.test.ts',
  'cli/run.test.ts',
  'cli/results.test.ts',
  'engine/campaign.test.ts',
  'engine/judged-campaign.test.ts',
  'propose/timeout.test.ts',
  'github/app-token.long.test.ts',
  'action/propose.long.test.ts',
  'action/judge.long.test.ts',
  'github/by-hand.long.test.ts',
  'action/unwritten.long.test.ts',
  'action/single-job.long.test.ts',
  'github/pick.long.test.ts',
  'github/whole-life.long.test.ts',
  'github/never-again.long.test.ts',
  'github/away.long.test.ts',
  'github/strangers.long.test.ts',
  'ledger/race.long.test.ts',
  'kill/measuring.long.test.ts',
  'github/three-steps.long.test.ts',
  'github/hostile-texts.long.test.ts',
  'github/fruitless-runs.long.test.ts',
  'github/reports.long.test.ts',
  'engine/asking.long.test.ts',
]

/** vitest begins with the files that took longest here before, and in a fresh clone with the largest. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) =>
      LONG_FOR_THEIR_SIZE.some(name => moduleId.endsWith(`/${name}`))
    return [...sorted.filter(isLong), ...sorted.filter(file => !isLong(file))]
  }
}

// Three forks on two cores: most tests wait for processes of their own.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    env: { TMPDIR: scratchDirectory(), PATH: foldersThatExist() },
    pool: 'forks',
    // Loading every module anew for every file would take as long as a third of the tests.
    isolate: false,
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
