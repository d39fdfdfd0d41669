import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { LedgerEvent } from '../../src/model/event.ts'
import { bundledCommandLine } from '../kill/command-line.ts'
import { endingOf, expectSound, lostOrders } from '../kill/ending.ts'
import { BRANCH, inTheMiddle, PATIENCE, push, TIMED } from '../kill/in-the-middle.ts'
import type { Scene } from '../kill/scene.ts'
import { letters, shorter, SIZE_SPEC } from '../support/size-repository.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const commandLine = bundledCommandLine()
/** What another process of the same person answers. */
async function says(at: Scene, ...argv: string[]): Promise<void> {
  const { code, err } = await commandLine.run(at, argv)
  expect([code, err]).toEqual([0, err])
}

function eventsOf(at: Scene): Promise<LedgerEvent[]> {
  return at.look(client => client.events())
}

function requeuedBy(events: readonly LedgerEvent[]) {
  return events.flatMap(event => (event.kind === 'requeued' ? [[event.experiment, event.why]] : []))
}

/** What ends a measurement that nobody waits for any more, whoever did it, and what comes of it. */
const DEEDS = [
  {
    deed: 'its branch deleted',
    does: (at: Scene) => at.origin('update-ref', '-d', `refs/heads/${BRANCH}`),
    code: 14,
    becomes: ['withdrawn', 'no gain', true],
  },
  {
    deed: 'a new head',
    does: (at: Scene) => push(at, BRANCH, { 'src/a.txt': letters('a', 10) }),
    code: 14,
    becomes: ['kept', 'kept', true],
  },
] as const

describe('a run that measures checks the remote', () => {
  it.each(selectCases(DEEDS))('ends the measurement at once when $deed', async ({ does, code, becomes }) => {
    const { at, end } = await inTheMiddle(commandLine)
    does(at)
    expect(await end).toMatchObject({ code, signal: null })
    expect(at.processes()).toEqual([])
    const after = await endingOf(at)
    expect(after.ending.experiments).toMatchObject([{ ended: becomes }])
    expect(lostOrders(after.events)).toEqual([])
    await expectSound(at, commandLine, after)
  })

  it('ends the measurement at once after a stop, and keeps the idea for a resumption', async () => {
    const { at, end, release } = await inTheMiddle(commandLine)
    await says(at, 'stop', '-m', 'enough')
    expect(await end).toMatchObject({ code: 10, signal: null })
    expect(at.processes()).toEqual([])
    const { ending, events } = await endingOf(at)
    expect(ending.status).toBe('stopped')
    expect(ending.experiments).toMatchObject([{ ended: [null, null, false], bytes: undefined }])
    expect(requeuedBy(events)).toEqual([['exp-001', 'stopped']])

    release()
    await says(at, 'resume')
    expect(await commandLine.run(at, ['run'])).toMatchObject({ code: 14 })
    const after = await endingOf(at)
    expect(after.ending.experiments).toMatchObject([{ ended: ['kept', 'kept', true], bytes: 36 }])
    expect(lostOrders(after.events)).toEqual([])
    await expectSound(at, commandLine, after)
  })

  releaseTest('ends the measurement after an amended ruler, and measures everything again', async () => {
    const { at, end } = await inTheMiddle(commandLine)
    writeFileSync(join(at.repo, '.winnow/size.yaml'), SIZE_SPEC.replace('size.sh', 'size.sh quick'))
    await says(at, 'amend', '-m', 'it took for ever')
    expect(await end).toMatchObject({ code: 14, signal: null })
    expect(at.processes()).toEqual([])
    const { ending, events } = await endingOf(at)
    expect(ending.experiments).toMatchObject([{ ended: ['kept', 'kept', true] }])
    expect(events.filter(({ kind }) => kind === 'calibrated')).toHaveLength(2)
  })

  releaseTest('lets a running measurement end after a pause, and starts none that is queued', async () => {
    const { at, end, told, release } = await inTheMiddle(commandLine, {
      spec: TIMED,
      files: { 'ideas/2.patch': shorter('b', 5) },
    })
    await says(at, 'pause', '-m', 'release week')
    await vi.waitFor(
      () => expect(told()).toContain('paused: release week; running measurements end first'),
      PATIENCE,
    )
    release()
    expect(await end).toMatchObject({ code: 14, signal: null })
    expect(at.processes()).toEqual([])
    const { ending } = await endingOf(at)
    expect(ending.experiments.map(({ bytes }) => bytes)).toEqual([36, undefined])

    await says(at, 'resume')
    expect(await commandLine.run(at, ['run'])).toMatchObject({ code: 14 })
    const after = await endingOf(at)
    expect(after.ending.experiments.map(({ ended: [outcome] }) => outcome)).toEqual([
      'kept',
      'runner_up_kept',
    ])
    expect(lostOrders(after.events)).toEqual([])
    await expectSound(at, commandLine, after)
  })

  releaseTest('orders a foreign tip at once, and does not measure it beside a timed order', async () => {
    const { at, end, release } = await inTheMiddle(commandLine, { spec: TIMED })
    push(at, 'optimize/size', { 'src/c.txt': letters('c', 9) })
    const isOrdered = (event: LedgerEvent) => event.kind === 'order-issued' && event.purpose === 'foreign'
    await vi.waitFor(async () => expect((await eventsOf(at)).some(isOrdered)).toBe(true), PATIENCE)
    release()
    expect(await end).toMatchObject({ code: 14, signal: null })
    expect(existsSync(join(at.home, 'beside'))).toBe(false)
    const after = await endingOf(at)
    expect(after.ending.experiments).toMatchObject([{ ended: ['kept', 'kept', true] }])
    expect(after.events.flatMap(event => (event.kind === 'foreign-tip' ? [event.state] : []))).toEqual([
      'found',
      'adopted',
    ])
    await expectSound(at, commandLine, after)
  })
})
