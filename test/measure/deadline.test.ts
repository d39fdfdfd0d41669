import { describe, expect, test } from 'vitest'
import { withDeadline } from '../../src/measure/process/launch.ts'

function pending<T>() {
  const settle: { resolve: (value: T) => void; reject: (error: Error) => void } = {
    resolve: () => {},
    reject: () => {},
  }
  const promise = new Promise<T>((resolve, reject) => Object.assign(settle, { resolve, reject }))
  return { promise, settle }
}

function noting(settleOn: string | null, settle: (value: string) => void) {
  const said: string[] = []
  const say = (word: string) => () => {
    said.push(word)
    if (word === settleOn) settle(word)
  }
  return { said, ending: { term: say('term'), kill: say('kill'), destroy: say('destroy') } }
}

const never = new AbortController().signal

describe('a time limit', () => {
  test('that is kept ends nothing', async () => {
    const { said, ending } = noting(null, () => {})
    const run = withDeadline(Promise.resolve('done'), ending, { timeoutSeconds: 60, signal: never })
    expect(await run).toEqual({ value: 'done', timedOut: false })
    expect(said).toEqual([])
  })

  test('asks first; who answers is not killed', async () => {
    const { promise, settle } = pending<string>()
    const { said, ending } = noting('term', settle.resolve)
    const run = await withDeadline(promise, ending, { timeoutSeconds: 0.01, graceSeconds: 60, signal: never })
    expect(run).toEqual({ value: 'term', timedOut: true })
    expect(said).toEqual(['term'])
  })

  test('kills who does not answer', async () => {
    const { promise, settle } = pending<string>()
    const { said, ending } = noting('kill', settle.resolve)
    const run = await withDeadline(promise, ending, {
      timeoutSeconds: 0.01,
      graceSeconds: 0.01,
      signal: never,
    })
    expect(run.timedOut).toBe(true)
    expect(said).toEqual(['term', 'kill'])
  })

  test('cancelling takes the same way and is no timeout', async () => {
    const cancel = new AbortController()
    const { promise, settle } = pending<string>()
    const { said, ending } = noting('kill', settle.resolve)
    const run = withDeadline(promise, ending, {
      timeoutSeconds: 60,
      graceSeconds: 0.01,
      signal: cancel.signal,
    })
    cancel.abort()
    expect(await run).toEqual({ value: 'kill', timedOut: false })
    expect(said).toEqual(['term', 'kill'])
  })

  test('a run that fails fails, and nothing is left waiting', async () => {
    const { said, ending } = noting(null, () => {})
    const failed = Promise.reject(new Error('no such program'))
    await expect(withDeadline(failed, ending, { timeoutSeconds: 60, signal: never })).rejects.toThrow(
      'no such program',
    )
    expect(said).toEqual([])
  })
})
