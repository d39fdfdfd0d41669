import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { defineConfig } from 'vitest/config'

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

// Three forks on two cores: most tests wait for processes of their own.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    env: { TMPDIR: scratchDirectory(), PATH: foldersThatExist() },
    pool: 'forks',
    // Loading every module anew for every file would take as long as a third of the tests.
    isolate: false,
    maxWorkers: 3,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
