import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const GIBIBYTE = 2 ** 30
/** More than the tests have at a time, which runs that were killed leave behind. */
const FILES_OF_A_RUN = 1_000_000

/** Most tests make small repositories and throw them away: memory is the place for that where there is enough. */
function scratchDirectory(): string {
  if (!existsSync('/dev/shm')) return tmpdir()
  const { bavail, bsize, ffree } = statfsSync('/dev/shm')
  return bavail * bsize > 2 * GIBIBYTE && ffree > FILES_OF_A_RUN ? '/dev/shm' : tmpdir()
}

/** npm names a folder for each one above a clone, and users of sides are refused one that anybody could still make. */
function foldersThatExist(): string {
  return (process.env['PATH'] ?? '')
    .split(':')
    .filter(folder => existsSync(folder))
    .join(':')
}

/** The files that take longest. Their size does not show it, and the last of them would run alone at the end. */
const LONGEST = [
  'test/readme.long.test.ts',
  'test/action/judge.long.test.ts',
  'test/golden/github.long.test.ts',
  'test/golden/local.long.test.ts',
  'test/measure/users.long.test.ts',
  'test/action/side-users.long.test.ts',
  'test/github/app-token.long.test.ts',
  'test/cli/init.long.test.ts',
  'test/cli/process.long.test.ts',
  'test/github/doctor.long.test.ts',
  'test/action/single-job.long.test.ts',
  'test/github/pick.long.test.ts',
  'test/github/approving-reviews.long.test.ts',
  'test/engine/effects.long.test.ts',
  'test/action/propose.long.test.ts',
  'test/bench/hostile.long.test.ts',
  'test/engine/pick.long.test.ts',
  'test/cli/probes.long.test.ts',
  'test/action/tick.long.test.ts',
  'test/github/three-steps.long.test.ts',
  'test/github/one-machine.long.test.ts',
  'test/github/whole-life.long.test.ts',
  'test/kill/anywhere.long.test.ts',
]

/** vitest begins with the files that took longest here before, and in a fresh clone with the largest. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const missing = LONGEST.filter(name => !existsSync(new URL(name, import.meta.url)))
    if (missing.length > 0) throw new Error(`vitest.config.ts names ${missing.join(', ')}: no such file`)
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some(name => moduleId.endsWith(`/${name}`))
    return [...sorted.filter(isLong), ...sorted.filter(file => !isLong(file))]
  }
}

// Four forks on two cores: most tests wait for processes of their own.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    env: { TMPDIR: scratchDirectory(), PATH: foldersThatExist() },
    pool: 'forks',
    // Loading every module anew for every file would take as long as a third of the tests.
    isolate: false,
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
