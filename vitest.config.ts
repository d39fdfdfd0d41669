import { defineConfig } from 'vitest/config'

// Two forks: the machines this runs on have two cores, and most tests start git.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
