import { describe, expect, it } from 'vitest'
import { selectFailingLines, stripInstallNoise } from '../../src/measure/output/failure-output.ts'
import { explainAlmostResult } from '../../src/measure/output/result-object.ts'
import { benchmarkJs, cargoBench, mitata } from '../../src/measure/output/text-benchmarks.ts'
import { RUNNER_OUTPUTS } from './runner-outputs.ts'

describe('the lines that name what failed', () => {
  for (const [runner, { printed, failing }] of Object.entries(RUNNER_OUTPUTS)) {
    it(`are found in what ${runner} prints`, () => {
      expect(selectFailingLines(printed)).toEqual(failing)
    })

    it(`are found after pages of other output (${runner})`, () => {
      const pages = Array.from({ length: 400 }, (_, line) => `compiling module ${line} of 400`).join('\n')
      expect(selectFailingLines(`${pages}\n${printed}\n${pages}`)).toEqual(failing)
    })
  }

  it('are none where nothing failed, and where no runner is known', () => {
    const passing = 'TAP version 13\nok 1 - adds\n1..1\n# pass 1\n\n2 passing (4ms)\n1) read the manual\n'
    expect(selectFailingLines(passing)).toEqual([])
    expect(selectFailingLines('Segmentation fault (core dumped)\n')).toEqual([])
    expect(selectFailingLines('')).toEqual([])
  })

  it.each(['\n', ' > ', "'", ' '])(
    'are searched for in a long line of %j, or many lines, within seconds',
    text => {
      const much = `FAIL: a${text.repeat(2 ** 18)}b\n`
      const tools = [mitata, benchmarkJs, cargoBench]
      expect([selectFailingLines(much), ...tools.map(tool => tool.read(much))].flat()).toEqual([])
      expect(explainAlmostResult(much, '{}')).toBeNull()
    },
  )

  it('are bounded, in number and in length', () => {
    const many = Array.from({ length: 500 }, (_, n) => `not ok ${n} - ${'x'.repeat(900)}`).join('\n')
    const found = selectFailingLines(many)
    expect([found.length, found[0]?.length]).toEqual([24, 200])
  })
})

describe('what installing prints by the way', () => {
  it('is no part of what is shown', () => {
    const printed = [
      'npm warn deprecated inflight@1.0.6: This module is not supported',
      'npm warn EBADENGINE Unsupported engine {',
      'npm notice',
      'npm notice New minor version of npm available! 11.19.1 -> 11.21.2',
      'added 312 packages, and audited 313 packages in 2s',
      '41 packages are looking for funding',
      '  run `npm fund` for details',
      'found 0 vulnerabilities',
      'Collecting numpy==2.0',
      'Requirement already satisfied: pip in ./venv',
      '[notice] A new release of pip is available: 24.0 -> 26.1',
      'Progress: resolved 12, reused 12, downloaded 0, added 12',
      '   Compiling serde v1.0.2',
      'go: downloading golang.org/x/text v0.3.0',
      'Error: cannot find the ruler',
    ].join('\n')
    expect(stripInstallNoise(printed)).toBe('Error: cannot find the ruler')
  })

  it('is shown where there is nothing else', () => {
    expect(stripInstallNoise('npm warn a\nnpm notice b')).toBe('npm warn a\nnpm notice b')
    expect(stripInstallNoise('')).toBe('')
  })

  it('is not what a package manager fails with', () => {
    const failed = 'npm warn old lockfile\nnpm error code ERESOLVE\nnpm error ERESOLVE could not resolve'
    expect(stripInstallNoise(failed)).toBe('npm error code ERESOLVE\nnpm error ERESOLVE could not resolve')
  })
})
