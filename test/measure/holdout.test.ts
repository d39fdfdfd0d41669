import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { judgeHoldout } from '../../src/decide/holdout.ts'
import { type HoldoutRule, type HoldoutSource, isFollowingCoins } from '../../src/model/order.ts'
import { type Experiment, type Laboratory, laboratory } from './laboratory.ts'
import { scratch } from './scratch.ts'

/** Prints what the side's value weighs on the holdout; everything it knows of the holdout it also tells. */
const HELD_BACK = `secret=$(cat "$WINNOW_HOLDOUT_DIR/secret")
cp "$WINNOW_HOLDOUT_DIR/secret" "$WINNOW_OUT_DIR/../secret-out"; cp "$WINNOW_HOLDOUT_DIR/secret" secret-tree
echo "the secret is $secret" >&2
. ./src/more
echo "{\\"bytes\\": $(( $(cat src/value) + secret )), \\"told\\": $secret, \\"tasks\\": {\\"t\\": $secret}}"
`
/** How many files of the holdout an ordinary execution finds around itself. */
const LOOKS = `found=$(find "$WINNOW_OUT_DIR/../.." -name 'secret*' | wc -l)
echo "{\\"bytes\\": $((100 + found)), \\"told\\": \${#WINNOW_HOLDOUT_DIR}}"
`
const FILES = {
  'bench.sh': LOOKS,
  'held-back.sh': HELD_BACK,
  'src/value': '100\n',
  'src/more': ':\n',
}
const CANDIDATE = { 'exp-001': { 'src/value': '90\n' } }

function rule(source: HoldoutSource | null, rest: Partial<HoldoutRule> = {}): HoldoutRule {
  const command = 'sh held-back.sh'
  const metrics = ['bytes']
  return {
    rule: 'holdout',
    command,
    metrics,
    scale: 'linear',
    pairs: 3,
    margin: 0,
    exact: true,
    source,
    ...rest,
  }
}

/** A commit with the holdout in it, as the engine would have fetched it. */
async function inGit({ repository }: Laboratory): Promise<HoldoutSource> {
  const oid = await repository.writeBlob('7\n')
  const tree = await repository.replaceEntries(repository.emptyTree, [
    { path: 'secret', entry: { mode: '100644', oid } },
  ])
  return { ref: 'refs/holdout/a', commit: '3'.repeat(40), tree }
}

function tried(stop: HoldoutRule, rest: Experiment = {}): Experiment {
  return { files: FILES, candidates: CANDIDATE, stop, order: { purpose: 'holdout' }, ...rest }
}

describe('a holdout order', () => {
  test('runs its own command on both sides with the holdout, and reports the judged number alone', async () => {
    const lab = await laboratory()
    const stop = rule(await inGit(lab))
    const experiment = tried(stop, { spec: { gates: [{ name: 'never', command: 'false' }] } })
    const report = await lab.measure(experiment)
    expect(report).toMatchObject({ tampered: null, runner_error: null, gates: [] })
    const runs = report.executions.map(({ side, role, metrics }) => [side, role, metrics])
    expect(runs.filter(([side]) => side === 'base')).toEqual([
      ['base', 'holdout', { bytes: 107 }],
      ['base', 'holdout', { bytes: 107 }],
    ])
    expect(runs.filter(([side]) => side === 'exp-001')).toHaveLength(2)
    expect(JSON.stringify(report.executions)).not.toMatch(/secret|told|tasks|stderr/)
    const { order, spec } = await lab.input(experiment)
    expect(isFollowingCoins(order, report)).toBe(true)
    expect(judgeHoldout({ spec, stop, report, label: 'exp-001' })).toEqual({ is: 'passed' })
  })

  test('warms up and runs every pair where numbers vary', async () => {
    const lab = await laboratory()
    const report = await lab.measure(tried(rule(await inGit(lab), { exact: false })))
    const roles = report.executions.filter(({ side }) => side === 'base').map(({ role }) => role)
    expect(roles).toEqual(['warmup', 'holdout', 'holdout', 'holdout'])
  })

  test('shows the holdout to no set-up', async () => {
    const lab = await laboratory()
    const setup = 'test -z "$WINNOW_HOLDOUT_DIR" && test -z "$(find ../.. -name "secret*")"'
    const report = await lab.measure(tried(rule(await inGit(lab)), { spec: { measurement: { setup } } }))
    expect(report.setups.map(({ ok }) => ok)).toEqual([true, true])
    expect(report.executions).toHaveLength(4)
  })

  test('ends a side that fails twice', async () => {
    const lab = await laboratory()
    const candidates = { 'exp-001': { 'src/more': 'exit 3\n' } }
    const stop = rule(await inGit(lab), { exact: false })
    const report = await lab.measure(tried(stop, { candidates }))
    expect(report.executions.filter(({ status }) => status === 'crashed')).toHaveLength(2)
    const { spec } = await lab.input(tried(stop, { candidates }))
    expect(judgeHoldout({ spec, stop, report, label: 'exp-001' })).toEqual({ is: 'failed' })
  })

  test.each([
    ['writes to it', 'chmod u+w "$WINNOW_HOLDOUT_DIR/secret"; echo 0 > "$WINNOW_HOLDOUT_DIR/secret"\n'],
    ['adds to it', 'chmod u+w "$WINNOW_HOLDOUT_DIR"; touch "$WINNOW_HOLDOUT_DIR/more"\n'],
  ])('that %s proves nothing, and the report does not say which file', async (_, more) => {
    const lab = await laboratory()
    const stop = rule(await inGit(lab))
    const report = await lab.measure(tried(stop, { candidates: { 'exp-001': { 'src/more': more } } }))
    expect(report.tampered).toEqual({ during: 'exp-001', path: 'the holdout' })
    const { spec } = await lab.input(tried(stop))
    expect(judgeHoldout({ spec, stop, report, label: 'exp-001' })).toMatchObject({ is: 'refused' })
  })
})

describe('an ordinary execution', () => {
  const ordinary: Experiment = { files: FILES, candidates: CANDIDATE }
  const unseen = { bytes: 100, told: 0 }

  test('finds nothing of a holdout that was measured before on the same trees', async () => {
    const lab = await laboratory()
    await lab.measure(ordinary)
    await lab.measure(tried(rule(await inGit(lab))))
    expect(existsSync(join(lab.workDir, 'holdout'))).toBe(false)
    const { executions } = await lab.measure(ordinary)
    expect(executions.map(({ metrics }) => metrics)).toMatchObject([unseen, unseen])
  })

  test('finds nothing of one that was killed on the way', async () => {
    const lab = await laboratory()
    const left = join(lab.workDir, 'holdout', 'data')
    mkdirSync(left, { recursive: true })
    writeFileSync(join(left, 'secret'), '7\n', { mode: 0o444 })
    const { executions } = await lab.measure(ordinary)
    expect(executions.map(({ metrics }) => metrics)).toMatchObject([unseen, unseen])
  })
})

describe('a holdout that a variable names', () => {
  const source = { environment: 'HELD_BACK' }

  test('is measured in a copy', async () => {
    const lab = await laboratory()
    const own = scratch()
    writeFileSync(join(own, 'secret'), '9\n')
    const env = { ...(await lab.input({})).env, HELD_BACK: own }
    const report = await lab.measure(tried(rule(source), { input: { env } }))
    expect(report.executions.find(({ side }) => side === 'base')?.metrics).toEqual({ bytes: 109 })
    expect(readFileSync(join(own, 'secret'), 'utf8')).toBe('9\n')
    expect(existsSync(join(lab.workDir, 'holdout'))).toBe(false)
  })

  test.each([
    ['is not set', {}, 'HELD_BACK is not set'],
    ['is not there', { HELD_BACK: '/nowhere/at/all' }, 'which is no directory'],
  ])('that %s is for a person to mend, before anything starts', async (_, extra, words) => {
    const lab = await laboratory()
    const env = { ...(await lab.input({})).env, ...extra }
    await expect(lab.measure(tried(rule(source), { input: { env } }))).rejects.toThrow(words)
  })
})
