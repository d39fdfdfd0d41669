import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { buildChatBody } from '../../src/judge/chat-model.ts'
import { findMaker, parseEndpoint, resolveModel } from '../../src/judge/endpoint.ts'

describe('the address of models', () => {
  it.each([
    ['https://api.openai.com/v1/', 'https://api.openai.com/v1'],
    ['https://gateway.example:8443/openai/v1', 'https://gateway.example:8443/openai/v1'],
    ['http://localhost:11434/v1', 'http://localhost:11434/v1'],
    ['http://127.0.0.1:8000/v1', 'http://127.0.0.1:8000/v1'],
    ['http://[::1]:8000/v1', 'http://[::1]:8000/v1'],
  ])('%s is accepted', (base, url) => {
    expect(parseEndpoint(base, 'key').url).toBe(url)
  })

  it.each([
    ['', 'not a web address'],
    ['api.openai.com/v1', 'not a web address'],
    ['file:///etc/passwd', 'not a web address'],
    ['https://me:pw@api.openai.com/v1', 'more than an address: https://api.openai.com/v1'],
    ['https://api.openai.com/v1?key=x', 'more than an address'],
    ['http://models.example/v1', 'without encryption'],
    ['http://127.0.0.1.example/v1', 'without encryption'],
  ])('%s is refused', (base, why) => {
    expect(() => parseEndpoint(base, 'key')).toThrow(UserError)
    expect(() => parseEndpoint(base, 'key')).toThrow(why)
  })

  it('may be plain HTTP on the own network without a key', () => {
    expect(parseEndpoint('http://gpu-box:8000/v1', '').host).toBe('gpu-box:8000')
  })

  it.each(['two words', 'line\nend', 'schlüssel'])('refuses a key like %j without repeating it', key => {
    const message = 'WINNOW_MODEL_KEY holds characters that a header cannot carry'
    expect(() => parseEndpoint('https://api.openai.com/v1', key)).toThrow(message)
  })
})

describe('the name of a model', () => {
  it.each([
    ['https://api.anthropic.com/v1', 'cheap', 'claude-haiku-4-5'],
    ['https://api.anthropic.com/v1', 'sonnet', 'claude-sonnet-4-5'],
    ['https://api.openai.com/v1', 'strong', 'gpt-4.1'],
    ['https://openrouter.ai/api/v1', 'haiku', 'anthropic/claude-haiku-4.5'],
    ['https://gateway.example/v1', 'llama-3', 'llama-3'],
    ['http://127.0.0.1:8080/v1', 'haiku', 'haiku'],
    ['https://gateway.example/v1', 'constructor', 'constructor'],
  ])('at %s is resolved: %s', (base, name, model) => {
    expect(resolveModel(parseEndpoint(base, ''), name)).toBe(model)
  })

  it.each([
    ['https://gateway.example/v1', 'cheap', 'as gateway.example calls it'],
    ['https://api.openai.com/v1', 'haiku', 'or one of cheap, strong'],
  ])('at %s is refused: %s', (base, name, fix) => {
    const refused = {
      message: expect.stringContaining(`${name} is not the name of a model`),
      fix: expect.stringContaining(fix),
    }
    expect(() => resolveModel(parseEndpoint(base, ''), name)).toThrow(expect.objectContaining(refused))
  })
})

describe('the body of a request', () => {
  const question = { model: 'gpt-5', system: 's', user: 'u', maxTokens: 9 }

  it('limits the answer in the field of the provider, and sets no temperature if the model rejects it', () => {
    const body = JSON.parse(buildChatBody(question, findMaker('api.openai.com'))) as Record<string, unknown>
    expect(body).toMatchObject({ model: 'gpt-5', max_completion_tokens: 9 })
    expect(Object.keys(body)).not.toContain('temperature')
    expect(Object.keys(body)).not.toContain('max_tokens')
  })

  it('sets temperature 0 if the model allows it', () => {
    const body = JSON.parse(buildChatBody(question, findMaker('gateway.example'))) as Record<string, unknown>
    expect(body).toMatchObject({ max_tokens: 9, temperature: 0 })
  })
})
