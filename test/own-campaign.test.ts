import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseSpec } from '../src/spec/load.ts'
import { compileScope } from '../src/spec/scope.ts'
import { listPlannedFeatures } from '../src/spec/planned-features.ts'

const ROOT = new URL('..', import.meta.url).pathname
const { spec } = parseSpec(readFileSync(join(ROOT, '.winnow/bundle.yaml'), 'utf8'), { file: 'bundle.yaml' })

describe("winnow's own campaign", () => {
  it('can run anywhere', () => {
    for (const where of ['local', 'single-job', 'github'] as const)
      expect(listPlannedFeatures(spec, where)).toEqual([])
  })

  it.each([
    'action.yml',
    'dist/action.js',
    'dist/measure.js',
    '.github/workflows/winnow.yml',
    '.github/actions/winnow-setup/action.yml',
    'bench/bundle.mjs',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'vitest.config.ts',
    'test/spec/parse.test.ts',
    'src/spec/scope.ts',
    'src/measure/tamper-check.ts',
    'src/action/drop-secrets.ts',
    'src/action/root-pipe.ts',
    'src/measure/isolation/side-users.ts',
  ])('lets no idea touch %s: it is measured by it, or guarded by it', path => {
    expect(compileScope(spec).isMutable(path)).toBe(false)
  })

  it('has gates that run what is tested of what may change', () => {
    const words = spec.gates.flatMap(({ command }) => command.split(' '))
    const paths = words.filter(word => word.startsWith('test/'))
    expect(paths).toContain('test/spec')
    expect(paths.filter(path => !existsSync(join(ROOT, path)))).toEqual([])
  })
})
