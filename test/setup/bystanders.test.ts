import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bystander } from '../../src/setup/github/bystanders.ts'

function found(on: string, jobs = '{}') {
  return bystander('ci.yml', `name: ci\non: ${on}\njobs: ${jobs}\n`, 'optimize')?.triggers ?? []
}

const triggersOf = (on: string, jobs?: string) => found(on, jobs).map(({ name }) => name)

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
    // Once an expression, in which the question mark was an error that fitted nothing, or any character.
    ['{ push: { branches: ["optimize?/*"] } }', ['push']],
    ['{ push: { branches: ["optimi[xz]e+/x"] } }', ['push']],
    ['{ push: { branches: ["o?ptimize/**", "!optimize/[a-z]"] } }', []],
    ['{ push: { branches: ["!optimize*/**", "**"] } }', ['push']],
    ['{ create: null, delete: {}, pull_request_review: {} }', ['create', 'delete']],
    ['[create, push]', ['push', 'create']],
    ['{ schedule: [{ cron: "0 0 * * *" }] }', []],
  ])('%s', (on, triggers) => {
    expect(triggersOf(on)).toEqual(triggers)
  })

  it.each([
    [
      '{ push: null }',
      "on.push.branches-ignore: ['optimize*/**']",
      '{ push: { branches-ignore: ["optimize*/**"] } }',
    ],
    [
      '{ push: { branches-ignore: [docs] } }',
      "on.push.branches-ignore: ['optimize*/**']",
      '{ push: { branches-ignore: [docs, "optimize*/**"] } }',
    ],
    // GitHub refuses both kinds for one event.
    [
      '{ push: { branches: ["**"] } }',
      "'!optimize*/**' as the last of on.push.branches",
      '{ push: { branches: ["**", "!optimize*/**"] } }',
    ],
    [
      '{ pull_request: { branches: ["opti*/**"] } }',
      "'!optimize/**' as the last of on.pull_request.branches",
      '{ pull_request: { branches: ["opti*/**", "!optimize/**"] } }',
    ],
  ])('%s is told the line that keeps it out: %s', (on, line, mended) => {
    expect(found(on)).toMatchObject([{ line }])
    expect(found(mended)).toEqual([])
  })

  it('tells the condition of a job where a trigger has no filter, and knows it again', () => {
    const condition =
      "${{ !startsWith(github.event.ref, 'optimize/') && !startsWith(github.event.ref, 'optimize-') }}"
    const line = `if: ${condition} to each job`
    expect(found('[create, delete]')).toEqual([
      { name: 'create', line },
      { name: 'delete', line },
    ])
    const job = (when: string) => `{ a: { if: ${JSON.stringify(when)} } }`
    const inside = condition.slice(4, -3)
    for (const when of [condition, inside, `github.actor != 'x' && ${inside}`])
      expect(triggersOf('[create, delete]', job(when))).toEqual([])
    for (const when of [`github.actor == 'x' || ${inside}`, 'always()'])
      expect(triggersOf('[create]', job(when))).toEqual(['create'])
    const two = `{ a: { if: ${JSON.stringify(condition)} }, b: {} }`
    expect(triggersOf('[create]', two)).toEqual(['create'])
  })

  it('reads whatever somebody wrote', () => {
    expect(bystander('x.yml', 'on: [', 'optimize')).toBeNull()
    expect(bystander('x.yml', 'jobs: {}', 'optimize')).toBeNull()
    fc.assert(fc.property(fc.string(), text => void bystander('x.yml', text, 'optimize')))
  })
})
