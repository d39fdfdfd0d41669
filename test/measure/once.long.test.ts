import { drawTurns } from '../../src/model/order.ts'
import { describe, expect, test } from 'vitest'
import { laboratory } from './laboratory.ts'

const runs = (report: { executions: { side: string; role: string }[] }) =>
  report.executions.map(({ side, role }) => `${side} ${role}`)

describe('an order with a deterministic metric', () => {
  test('runs each side once where nothing is gained', async () => {
    const lab = await laboratory()
    const report = await lab.measure({ candidates: { 'exp-001': { 'src/value': '100\n' } } })
    expect(report).toMatchObject({ tampered: null, runner_error: null })
    expect(runs(report).toSorted()).toEqual(['base sample', 'exp-001 sample'])
    expect(report.executions.every(run => run.metrics['bytes'] === 100 && run.status === 'ok')).toBe(true)
  })

  test('runs both sides once more, identically, where something seems gained', async () => {
    const lab = await laboratory()
    const report = await lab.measure({ candidates: { 'exp-001': { 'src/value': '90\n' } } })
    expect(runs(report).toSorted()).toEqual([
      'base repeat',
      'base sample',
      'exp-001 repeat',
      'exp-001 sample',
    ])
    expect(new Set(report.executions.map(run => run.seed)).size).toBe(1)
  })

  test('asks for no repeat below min_effect', async () => {
    const lab = await laboratory()
    const stop = { rule: 'once', min_effect: 20, scale: 'linear' } as const
    const report = await lab.measure({ candidates: { 'exp-001': { 'src/value': '90\n' } }, stop })
    expect(runs(report).some(run => run.endsWith('repeat'))).toBe(false)
  })

  test('repeats the base and only those that gained', async () => {
    const lab = await laboratory()
    const candidates = {
      'exp-001': { 'src/value': '90\n' },
      'exp-002': { 'src/value': '110\n' },
      'exp-003': { 'src/value': '80\n' },
    }
    const report = await lab.measure({ candidates })
    const repeated = report.executions.filter(run => run.role === 'repeat').map(run => run.side)
    expect(repeated.toSorted()).toEqual(['base', 'exp-001', 'exp-003'])
  })

  test('a candidate that fails ends alone; the others go on', async () => {
    const lab = await laboratory()
    const candidates = { 'exp-001': { 'src/value': '"many"\n' }, 'exp-002': { 'src/value': '80\n' } }
    const report = await lab.measure({ candidates })
    const failed = report.executions.filter(run => run.side === 'exp-001')
    expect(failed).toMatchObject([{ status: 'bad-output', metrics: {} }])
    expect(runs(report).filter(run => run.startsWith('exp-002'))).toEqual([
      'exp-002 sample',
      'exp-002 repeat',
    ])
  })

  test('which side goes first follows the coins of the order', async () => {
    const lab = await laboratory()
    const first = async (coins: string) => {
      const candidates = { 'exp-001': { 'src/value': '100\n' } }
      return (await lab.measure({ candidates, order: { coins } })).executions[0]?.side
    }
    for (const coins of ['0', '1', '2', 'e', 'f'].map(digit => digit.repeat(64)))
      expect(await first(coins)).toBe(drawTurns({ coins }, 0, ['base', 'exp-001'])[0])
  })

  test('the start is announced once, before the first run and after the set-up', async () => {
    const lab = await laboratory()
    const starts: number[] = []
    const report = await lab.measure({
      candidates: { 'exp-001': { 'src/value': '90\n' } },
      spec: { measurement: { setup: 'true' } },
      input: { onStart: async () => void starts.push(starts.length) },
    })
    expect(report.executions).toHaveLength(4)
    expect(report.setups).toHaveLength(2)
    expect(starts).toEqual([0])
  })

  test('a start that cannot be recorded runs nothing', async () => {
    const lab = await laboratory()
    const onStart = () => Promise.reject(new Error('the ledger is away'))
    const report = await lab.measure({ candidates: { 'exp-001': {} }, input: { onStart } })
    expect(report).toMatchObject({ executions: [], runner_error: 'the ledger is away' })
  })
})
