import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMAND_NAMES } from '../../src/action/commands.ts'
import { INPUTS } from '../../src/action/inputs.ts'
import { RIGHTS } from '../../src/setup/github/permissions.ts'
import { pinned } from '../../src/setup/github/pins.ts'
import { githubsParser } from './githubs-parser.ts'
import { parsedWorkflow } from './parsed.ts'
import { findingsIn } from './rules.ts'
import { ACTION } from './written.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/github.md'), 'utf8')
const [, shown = ''] = /### All in one job[^]*?```yaml\n([^]*?)```/.exec(page) ?? []
const text = shown.replace('owner/winnow@<40 digits>', ACTION)

const place = mkdtempSync(join(tmpdir(), 'winnow-single-'))
let github: Awaited<ReturnType<typeof githubsParser>>
beforeAll(async () => {
  github = await githubsParser(place)
})
afterAll(() => rmSync(place, { recursive: true, force: true }))

describe('the workflow of a single job, as the page shows it', () => {
  it("is taken by GitHub's own parser", async () => {
    const { context, value } = github.parseWorkflow(
      { name: 'a.yml', content: text },
      new github.NoOperationTraceWriter(),
    )
    if (value !== undefined) await github.convertWorkflowTemplate(context, value)
    expect(context.errors.getErrors().map(({ message }) => message)).toEqual([])
    expect(text).toContain(`uses: ${ACTION}`)
  })

  it('breaks none of the rules, and would with less care', () => {
    expect(findingsIn(text)).toEqual([])
    for (const [from, to] of [
      ['      group: winnow-tick\n', '      group: another\n'],
      ['persist-credentials: false', 'persist-credentials: true'],
      ['permissions: {}', 'permissions: write-all'],
      ['timeout-minutes: 350\n', 'timeout-minutes: 400\n'],
      ['vars.WINNOW_PAUSED', 'vars.ANOTHER'],
    ] as const)
      expect(findingsIn(text.replaceAll(from, to)), to).not.toEqual([])
  })

  it('has the rights of tick but for machines that it does not start, and gives the action what it takes', () => {
    const { actions: _, ...rights } = RIGHTS.tick.permissions
    const { run } = parsedWorkflow(text).jobs
    expect(run?.permissions).toEqual(
      Object.fromEntries(Object.entries(rights).map(([name, [level]]) => [name, level])),
    )
    for (const [name, [level, why]] of Object.entries(rights))
      expect(text).toContain(`${name}: ${level} # ${why}`)
    const given = run?.steps.at(-1)?.with ?? {}
    expect(INPUTS).toEqual(expect.arrayContaining(Object.keys(given)))
    expect(COMMAND_NAMES).toContain(given['command'])
    expect(text).toContain(`uses: ${pinned('actions/checkout')}`)
  })
})
