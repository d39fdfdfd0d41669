import { describe, expect, it } from 'vitest'
import { hasModelUrl, readModelAccess } from '../../src/engine/jobs/judging.ts'

const OPENAI = { WINNOW_MODEL_URL: 'https://api.openai.com/v1', WINNOW_MODEL_KEY: 'sk' }

describe('the address of models', () => {
  it('comes from the environment, with the known price of the model', () => {
    expect(readModelAccess(OPENAI, 'cheap')).toMatchObject({
      key: 'sk',
      model: 'gpt-4.1-mini',
      price: { input: 0.4, output: 1.6 },
    })
    expect(readModelAccess({ ...OPENAI, WINNOW_MODEL_PRICE: '2/8.5' }, 'cheap').price).toEqual({
      input: 2,
      output: 8.5,
    })
    expect(readModelAccess({ WINNOW_MODEL_URL: 'http://127.0.0.1:1/v1' }, 'mine')).toMatchObject({
      key: '',
      model: 'mine',
      price: null,
    })
  })

  it('is never guessed', () => {
    expect([hasModelUrl({}), hasModelUrl({ WINNOW_MODEL_URL: '' }), hasModelUrl(OPENAI)]).toEqual([
      false,
      false,
      true,
    ])
    expect(() => readModelAccess({ WINNOW_MODEL_KEY: 'sk' }, 'cheap')).toThrow('no address of a model is set')
  })

  it.each(['free', '1', '1/', '-1/2', '1/2/3', '1,5/2'])('rejects an unreadable price: %s', price => {
    const env = { ...OPENAI, WINNOW_MODEL_PRICE: price }
    expect(() => readModelAccess(env, 'cheap')).toThrow(`WINNOW_MODEL_PRICE is ${JSON.stringify(price)}`)
  })
})
