import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSecretName, removeSecrets } from '../../src/measure/environment.ts'

describe('what looks like a secret', () => {
  it.each([
    'ACTIONS_RUNTIME_TOKEN',
    'ACTIONS_ID_TOKEN_REQUEST_URL',
    'ACTIONS_CACHE_URL',
    'INPUT_GITHUB-TOKEN',
    'INPUT_APP-TOKEN',
    'GITHUB_TOKEN',
    'GH_TOKEN',
    'NPM_TOKEN',
    'MY_API_KEY',
    'OPENAI_APIKEY',
    'AWS_SECRET_ACCESS_KEY',
    'db_password',
    'PG_PASSWD_FILE',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'DEPLOY_PRIVATE_KEY',
    'WINNOW_MODEL_KEY',
  ])('%s does', name => expect(isSecretName(name)).toBe(true))

  it.each(['PATH', 'HOME', 'TOKENIZERS_PARALLELISM', 'JAVA_HOME', 'KEYBOARD', 'GITHUB_RUN_ID', 'SECRETARY'])(
    '%s does not',
    name => expect(isSecretName(name)).toBe(false),
  )
})

describe('an environment without secrets', () => {
  it('is a part of the one it was made from, and holds none', () => {
    const names = fc.stringMatching(/^[A-Z][A-Z_]{0,12}(?:_TOKEN|_SECRET|)$/)
    fc.assert(
      fc.property(fc.dictionary(names, fc.string()), env => {
        const left = removeSecrets(env)
        expect(env).toMatchObject(left)
        expect(Object.keys(left).filter(isSecretName)).toEqual([])
      }),
    )
  })

  it('does not bring anything into the programs it is for', () => {
    const env = {
      NODE_OPTIONS: '--require x',
      LD_PRELOAD: 'x.so',
      GIT_DIR: '/x',
      BASH_ENV: 'x',
      PATH: '/bin',
    }
    expect(removeSecrets(env)).toEqual({ PATH: '/bin' })
  })
})
