import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMeasuringTime } from '../../src/cli/live.ts'
import { project, SHORT } from './project.ts'

describe('a limit on the time of measuring', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })
  const limited = (minutes: number | null) => createMeasuringTime(minutes, () => Date.now())

  it('counts what is measured, and nothing that is waited for', () => {
    const time = limited(10)
    vi.advanceTimersByTime(60 * 60_000)
    expect(time.signal.aborted).toBe(false)
    time.begins()
    vi.advanceTimersByTime(6 * 60_000)
    expect(time.ends()).toBe(true)
    vi.advanceTimersByTime(60 * 60_000)
    time.begins()
    vi.advanceTimersByTime(4 * 60_000 - 1)
    expect(time.signal.aborted).toBe(false)
    vi.advanceTimersByTime(1)
    expect(time.signal.aborted).toBe(true)
    expect(time.seconds()).toBe(600)
    time.ends()
    vi.advanceTimersByTime(60_000)
    expect(time.seconds()).toBe(600)
  })

  it('does not count twice what begins twice, nor end what never began', () => {
    const time = limited(1)
    expect(time.ends()).toBe(false)
    time.begins()
    time.begins()
    vi.advanceTimersByTime(59_000)
    time.ends()
    vi.advanceTimersByTime(60_000)
    expect(time.signal.aborted).toBe(false)
  })

  it('is none where none was given, and may be longer than a timer can be', () => {
    for (const time of [limited(null), limited(60_000)]) {
      time.begins()
      vi.advanceTimersByTime(24 * 60 * 60_000)
      expect(time.signal.aborted).toBe(false)
    }
  })
})

it('winnow compare --max-minutes stops what it measures', async () => {
  const person = project()
  person.write('src/value', SHORT)
  const { code, out } = await person.winnow('compare', 'main', '--max-minutes', '0.00001', '--', 'sleep 60')
  expect([code, out]).toEqual([11, expect.stringMatching(/^The time ran out before /)])
})
