import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { measureOrder } from '../../src/measure/measure.ts'
import { isFollowingCoins } from '../../src/model/order.ts'
import { reportSchema } from '../../src/model/report.ts'
import { MARK_NAME } from '../../src/probes/language.ts'
import { summarizeProbes } from '../../src/model/harness-guard.ts'
import { findIgnoringCommands, readProbes } from '../../src/probes/read-probes.ts'
import { laboratory } from './laboratory.ts'
import { PATH } from './processes.ts'
import { scratch } from './scratch.ts'

const TESTS = { name: 'tests', command: 'sh src/lib; [ -s src/exit ] && exit 0; echo "# pass 133"' }
const LINT = { name: 'lint', command: 'false' }
const FILES = {
  'bench.sh': 'sh src/lib && echo "{\\"bytes\\": $(cat src/value)}"\n',
  'src/value': '100\n',
  'src/lib': '',
}

/** Measures candidates under the labels of probes, by the rule for probes of a metric that repeats exactly. */
async function measure(
  candidates: Record<string, Record<string, string>>,
  { files = FILES, gates = [TESTS] }: { files?: Record<string, string>; gates?: (typeof TESTS)[] } = {},
) {
  const lab = await laboratory()
  const home = scratch()
  const input = await lab.input({
    files,
    candidates,
    spec: { gates, measurement: { env: ['HOME'] } },
    stop: { rule: 'once', min_effect: 0, scale: 'log' },
    input: { env: { PATH, HOME: home } },
  })
  const order = { ...input.order, purpose: 'probe' as const }
  const report = reportSchema.parse(await measureOrder({ ...input, order }))
  const results = readProbes(input.spec, order, report)
  return { results, report, order, spec: input.spec, home, workDir: input.workDir }
}

describe('an order of probes', () => {
  test('runs gates only for probes that would be kept, after the harness, and never linters', async () => {
    const { results, report } = await measure(
      {
        'probe-exit-at-load': { 'src/lib': 'exit 3\n' },
        'probe-exit-at-call': { 'src/value': '50\n', 'src/exit': 'yes\n' },
        'probe-detect': { 'src/value': '50\n' },
        'probe-answer-nothing': { 'src/value': '150\n' },
      },
      { gates: [LINT, TESTS] },
    )
    expect(results.map(({ name, caught_by }) => [name, caught_by])).toEqual([
      ['exit-at-load', 'the harness'],
      ['exit-at-call', 'gate tests'],
      ['answer-nothing', 'no gain'],
      ['detect', null],
    ])
    expect(results[1]?.detail).toContain("only 0 of the base's 133 tests passed")
    expect(new Set(report.gates.map(({ side, name }) => `${side} ${name}`))).toEqual(
      new Set(['probe-exit-at-call tests', 'probe-detect tests', 'base tests']),
    )
    expect(summarizeProbes(results)).toEqual({ is: 'forgeable', by: ['detect'] })
  })

  test('shows commands that succeed without the code, if the number stays the same', async () => {
    const files = { ...FILES, 'bench.sh': 'echo "{\\"bytes\\": 100}"\n' }
    const ignoring = await measure({ 'probe-vanish': { 'src/value': '' } }, { files })
    expect(findIgnoringCommands(ignoring.spec, ignoring.results)).toEqual(['sh bench.sh', TESTS.command])
    const better = await measure({ 'probe-vanish': { 'src/value': '10\n' } })
    expect([better.results[0]?.caught_by, findIgnoringCommands(better.spec, better.results)]).toEqual([
      null,
      null,
    ])
    const gates = [{ name: 'tests', command: '[ -s src/value ]' }]
    const unread = await measure({ 'probe-vanish': { 'src/value': '' } }, { files, gates })
    expect(unread.results[0]).toMatchObject({ caught_by: null, applicable: true })
    expect(findIgnoringCommands(unread.spec, unread.results)).toEqual(['sh bench.sh'])
    const broken = await measure({ 'probe-vanish': { 'src/value': 'nothing\n' } })
    expect(broken.results[0]).toMatchObject({ caught_by: 'the missing output', applicable: true })
  })

  describe('of texts', () => {
    const suite = {
      advisory: true,
      tasks: [
        { name: 'short', task: 'Say it in a word.' },
        { name: 'long', task: 'Say it in ten words.' },
      ],
    }
    const metric = { primary: { name: 'score', direction: 'maximize' } }
    const measureTexts = async (harness: string, { artifacts }: { artifacts?: object[] } = {}) => {
      const isSuite = artifacts === undefined
      const lab = await laboratory()
      const input = await lab.input({
        files: { 'bench.sh': harness, 'prompts/worker.md': 'Be brief.\n' },
        candidates: { 'probe-vanish': { 'prompts/worker.md': '' } },
        spec: {
          metric,
          gates: [TESTS],
          measurement: { command: 'sh bench.sh', ...(isSuite ? { suite } : {}) },
          scope: { mutable: ['prompts/'] },
          ...(isSuite ? {} : { artifacts }),
        },
        stop: { rule: 'once', min_effect: 0.2, scale: 'log', noisy: true },
        order: { purpose: 'probe', ...(isSuite ? { suite: { tasks: ['short', 'long'], seeds: 1 } } : {}) },
        input: { env: { PATH } },
      })
      const report = reportSchema.parse(await measureOrder(input))
      const results = readProbes(input.spec, input.order, report)
      expect(isFollowingCoins(input.order, report)).toBe(true)
      return { results, report, ignored: findIgnoringCommands(input.spec, results) }
    }

    test('shows commands of a suite that succeed with the same scores for every task', async () => {
      const { results, report, ignored } = await measureTexts('echo "{\\"score\\": 0.${#WINNOW_TASK}}"\n')
      expect(ignored).toEqual(['sh bench.sh', TESTS.command])
      expect(results[0]?.detail).toBe(
        'every command succeeds without the texts, and every score stays the same',
      )
      expect(report.executions).toHaveLength(2 + 2 * 2)
    })

    test('shows such a command of artifacts in two runs', async () => {
      const artifacts = [{ name: 'worker', path: 'prompts/worker.md' }]
      const { report, ignored } = await measureTexts('echo "{\\"score\\": 0.5}"\n', { artifacts })
      expect(ignored).toEqual(['sh bench.sh', TESTS.command])
      expect(report.executions).toHaveLength(2 + 2)
    })

    test.each([
      [
        'one task loses',
        '[ "$WINNOW_TASK" = long ] && [ ! -s prompts/worker.md ] && echo "{\\"score\\": 0.1}" || echo "{\\"score\\": 0.5}"\n',
      ],
      ['no score can be worse', 'echo "{\\"score\\": 0}"\n'],
    ])('says no gain where %s', async (_, harness) => {
      const { results, ignored } = await measureTexts(harness)
      expect([results[0]?.caught_by, ignored]).toEqual(['no gain', null])
    })
  })

  test('runs the memory probe twice, and removes what it left outside its folder', async () => {
    const mark = `"$HOME/${MARK_NAME}"`
    const lib = `[ "$(cat ${mark} 2> /dev/null || echo "$WINNOW_SEED")" = "$WINNOW_SEED" ] || exit 97\necho "$WINNOW_SEED" > ${mark}\n`
    const { results, report, order, home } = await measure({ 'probe-remember': { 'src/lib': lib } })
    const runs = report.executions.filter(({ side }) => side === 'probe-remember')
    expect(runs.map(({ status }) => status)).toEqual(['ok', 'crashed'])
    expect(new Set(runs.map(({ seed }) => seed)).size).toBe(2)
    expect(isFollowingCoins(order, report)).toBe(true)
    expect(results[0]).toMatchObject({ caught_by: null, detail: 'a later execution found its mark' })
    expect(existsSync(join(home, MARK_NAME))).toBe(false)
    const forgetful = await measure({ 'probe-remember': { 'src/lib': `echo 1 > ${MARK_NAME}` } })
    expect(forgetful.results[0]).toMatchObject({
      caught_by: 'the same start every time',
      detail: 'no execution found what an earlier one had left',
    })
  })

  test('says of a probe that does not build or parse that it was not tried', async () => {
    const { results } = await measure({
      'probe-exit-at-load': { 'src/lib': 'echo "SyntaxError: Unexpected token" >&2; exit 1\n' },
    })
    expect(results).toEqual([
      {
        name: 'exit-at-load',
        applicable: false,
        caught_by: null,
        detail: 'could not be written for this code',
      },
    ])
    expect(summarizeProbes(results)).toEqual({ is: 'guarded' })
  })

  test('leaves none of its trees behind', async () => {
    const { workDir } = await measure({ 'probe-detect': { 'src/value': '50\n' } })
    expect(existsSync(join(workDir, 'slots')) ? readdirSync(join(workDir, 'slots')) : []).toEqual([])
  })
})
