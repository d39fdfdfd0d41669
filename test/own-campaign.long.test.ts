import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseSpec } from '../src/spec/load.ts'

const ROOT = new URL('..', import.meta.url).pathname
const { spec } = parseSpec(readFileSync(join(ROOT, '.winnow/bundle.yaml'), 'utf8'), { file: 'bundle.yaml' })

describe("winnow's own campaign", () => {
  it('measures the bundle of this very clone, the same whenever asked', () => {
    const measured = () => spawnSync(spec.measurement.command, { shell: true, cwd: ROOT, encoding: 'utf8' })
    const { stdout, stderr, status } = measured()
    expect([status, stderr]).toEqual([0, ''])
    const { bytes } = JSON.parse(stdout)
    // Half of it are packages, whatever becomes of the rest.
    expect(bytes).toBeGreaterThan(200_000)
    expect(bytes).toBeLessThan(1_500_000)
    expect(measured().stdout).toBe(stdout)
  })
})
