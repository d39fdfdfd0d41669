import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bystander } from '../../src/setup/github/bystanders.ts'

function triggersOf(on: string) {
  return bystander('ci.yml', `name: ci\non: ${on}\njobs: {}\n`, 'optimize')?.triggers
}

describe('which workflows run on winnow’s branches', () => {
  it.each([
    ['push', ['push']],
    ['[push, pull_request]', ['push', 'pull_request']],
    ['{ push: {}, workflow_dispatch: null }', ['push']],
    ['{ push: { branches: [main] }, pull_request: { branches: [main, "release/**"] } }', []],
    ['{ push: { branches: ["**"] } }', ['push']],
    ['{ push: { branches: ["*"] } }', []],
    ['{ push: { branches: "optimize/*" } }', ['push']],
    ['{ push: { branches: ["**", "!optimize*/**"] } }', []],
    ['{ push: { branches-ignore: ["optimize*/**"] } }', []],
    ['{ push: { branches-ignore: [docs] } }', ['push']],
    ['{ push: { tags: ["v*"] } }', []],
    ['{ pull_request_target: null }', ['pull_request_target']],
    ['{ pull_request: { branches-ignore: ["optimize/**"] } }', []],
    ['{ schedule: [{ cron: "0 0 * * *" }] }', []],
  ])('%s', (on, triggers) => {
    expect(triggersOf(on)).toEqual(triggers)
  })

  it('reads whatever somebody wrote', () => {
    expect(bystander('x.yml', 'on: [', 'optimize')).toBeNull()
    expect(bystander('x.yml', 'jobs: {}', 'optimize')).toBeNull()
    fc.assert(fc.property(fc.string(), text => void bystander('x.yml', text, 'optimize')))
  })
})
