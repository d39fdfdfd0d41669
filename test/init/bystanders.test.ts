import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyzeWorkflow } from '../../src/init/workflows/foreign-workflows.ts'

function found(on: string, jobs = '{}') {
  return analyzeWorkflow('ci.yml', `name: ci\non: ${on}\njobs: ${jobs}\n`, 'optimize')
}

const triggersOf = (on: string, jobs?: string) => found(on, jobs)?.triggers

describe('workflows that run on the branches of winnow', () => {
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
    ['{ push: null }', "on:\n  push:\n    branches-ignore: ['optimize*/**']"],
    ['{ push: { branches-ignore: [docs] } }', "on:\n  push:\n    branches-ignore: [docs, 'optimize*/**']"],
    [
      '{ push: { tags: [v1], branches: ["**"] } }',
      "on:\n  push:\n    tags: [v1]\n    branches: ['**', '!optimize*/**']",
    ],
    [
      '{ pull_request: { types: [opened], branches: ["opti*/**"] }, workflow_dispatch: null }',
      "on:\n  pull_request:\n    types: [opened]\n    branches: ['opti*/**', '!optimize/**']",
    ],
    [
      '[push, pull_request, workflow_dispatch]',
      "on:\n  push:\n    branches-ignore: ['optimize*/**']\n  pull_request:\n    branches-ignore: ['optimize/**']\n  workflow_dispatch:",
    ],
    ['push', "on:\n  push:\n    branches-ignore: ['optimize*/**']"],
  ])('%s: the suggested lines keep it off the branches of winnow', (on, lines) => {
    expect(found(on)?.on).toBe(lines)
    expect(analyzeWorkflow('ci.yml', `${lines}\njobs: {}\n`, 'optimize')).toMatchObject({
      triggers: [],
      on: '',
    })
  })

  it('suggests a job condition for a trigger without a filter, and recognizes that condition', () => {
    const inside = "!startsWith(github.event.ref, 'optimize/') && !startsWith(github.event.ref, 'optimize-')"
    const condition = `\${{ ${inside} }}`
    expect(found('[create, delete]')).toMatchObject({
      triggers: ['create', 'delete'],
      on: '',
      condition: inside,
    })
    const job = (when: string) => `{ a: { if: ${JSON.stringify(when)} } }`
    for (const when of [condition, inside, `github.actor != 'x' && ${inside}`])
      expect(triggersOf('[create, delete]', job(when))).toEqual([])
    for (const when of [`github.actor == 'x' || ${inside}`, 'always()'])
      expect(triggersOf('[create]', job(when))).toEqual(['create'])
    const two = `{ a: { if: ${JSON.stringify(condition)} }, b: {} }`
    expect(triggersOf('[create]', two)).toEqual(['create'])
  })

  it('never throws, whatever the file contains', () => {
    expect(analyzeWorkflow('x.yml', 'on: [', 'optimize')).toBeNull()
    expect(analyzeWorkflow('x.yml', 'jobs: {}', 'optimize')).toBeNull()
    fc.assert(fc.property(fc.string(), text => void analyzeWorkflow('x.yml', text, 'optimize')))
  })
})
