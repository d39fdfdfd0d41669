import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { detectProject } from '../../src/init/detect.ts'
import { draftSpec } from '../../src/init/draft.ts'
import { readGoal } from '../../src/init/goal.ts'
import { measureText } from '../../src/init/text.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { scratch } from '../git/scratch.ts'
import { type Files, toRepository } from './a-project.ts'

const SKILL = `---
name: reports
description: Write a report.
---

# Reports

## Steps

Write down what happened, and what should have happened.

## Answer

Answer in Markdown.
`
const FILES = { 'README.md': '# Skills\n', 'skills/reports/SKILL.md': SKILL }

function draft(files: Files, words: string | null = null) {
  const project = toRepository(files)
  const goal = words === null ? null : readGoal(words)
  const detected = detectProject(project, undefined)
  const made = draftSpec({ project, detected, name: 'quality', prefix: 'optimize', goal })
  const yaml = made.files[0]?.text ?? ''
  return { ...made, detected, yaml, spec: parseSpec(yaml, { file: made.specPath }).spec }
}

/** What the drafted harness prints of this text. */
function runHarness(text: string): Record<string, unknown> {
  const dir = scratch()
  const { files, spec } = draft(FILES)
  for (const { path, text: content } of [...files, { path: 'skills/reports/SKILL.md', text }]) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  const out = execFileSync('sh', ['-c', spec.measurement.command], { cwd: dir, encoding: 'utf8' })
  return JSON.parse(out) as Record<string, unknown>
}

/** Whether the gates of the drafted spec let the printed numbers pass. */
function listFailedGates(printed: Record<string, unknown>): string[] {
  return draft(FILES).spec.metric.degenerate_gates.flatMap(({ name, check }) => {
    const [operator, limit] = check.split(' ')
    const value = printed[name]
    const holds = operator === '<=' ? Number(value) <= Number(limit) : String(value) === limit
    return holds ? [] : [name]
  })
}

describe('a repository that holds only texts', () => {
  it('gets a judged campaign on its skill, with structure checks as gates', () => {
    const { spec, files, isPlaceholder } = draft(FILES)
    expect(files.map(({ path }) => path)).toEqual([
      '.winnow/quality.yaml',
      'bench/quality.mjs',
      'bench/quality.cases.json',
    ])
    expect(spec.scope.mutable).toEqual(['skills/reports/SKILL.md'])
    expect(spec.metric.primary).toMatchObject({ type: 'judge', name: 'quality', direction: 'maximize' })
    expect(spec.metric.degenerate_gates.map(({ name }) => name)).toEqual([
      'required_sections_present',
      'length_tokens',
      'keyword_share',
      'violation_count',
    ])
    expect(isPlaceholder).toBe(false)
  })

  it('starts with the caps of a first run, and with buckets that add up to the sample', () => {
    const { stopping, metric } = draft(FILES).spec
    expect([stopping.max_iterations, stopping.max_hours]).toEqual([4, 1])
    const { judge } = metric
    expect([judge?.sample_size, judge?.batch_size, judge?.max_total_cost_usd]).toEqual([10, 5, 5])
    expect(judge?.stratification?.reduce((sum, { count }) => sum + count, 0)).toBe(10)
    expect(judge?.rubric.match(/^- [1-5]: /gm)).toHaveLength(5)
  })

  it('explains the three tiers and warns about proxies in the spec', () => {
    const { yaml } = draft(FILES)
    expect(yaml).toMatch(
      /^# 1\. Gates .*\n# 2\. The judge .*\n# 3\. Diagnostics .*\n# Do not optimise a proxy: /m,
    )
  })

  it.each([
    [{ 'prompts/a.md': 'x', 'notes.md': 'x' }, null, 'prompts/a.md'],
    [{ 'prompts/a.md': 'x', '.claude/skills/b/SKILL.md': 'x' }, null, '.claude/skills/b/SKILL.md'],
    [{ 'prompts/greet.md': 'x', 'prompts/review.md': 'x' }, 'a clearer review', 'prompts/review.md'],
    [{ 'guide.md': 'x', 'README.md': 'x' }, null, 'guide.md'],
  ])('improves one text: of %o with goal %s it is %s', (files, words, path) => {
    expect(draft(files as unknown as Files, words).spec.scope.mutable).toEqual([path])
  })

  it('has no program to measure, unless the goal is its length', () => {
    expect(() => draft(FILES, 'a faster skill')).toThrow('is a text: it has no wall_seconds to measure')
    const { spec, notes } = draft(FILES, 'a smaller skill')
    expect(spec.metric.primary).toMatchObject({ type: 'hard', name: 'length_tokens', direction: 'minimize' })
    expect(notes.join()).toContain('length alone improves when instructions go')
  })

  it('is offered beside a program, and skipped if it only documents one', () => {
    const node = { 'package.json': { name: 'n' }, 'src/index.js': '' }
    expect(detectProject(toRepository({ ...node, ...FILES }), undefined)).toMatchObject({
      findings: { language: 'node' },
      others: ['text'],
    })
    expect(detectProject(toRepository({ ...node, 'docs/a.md': '' }), undefined).others).toEqual([])
    expect(detectProject(toRepository({ ...node, ...FILES }), 'text').findings.language).toBe('text')
    expect(() => detectProject(toRepository({ 'README.md': 'x' }), undefined)).toThrow(
      'a text is committed here',
    )
  })
})

describe('the harness of a text', () => {
  it('prints twenty cases, and numbers that pass its own gates', () => {
    const printed = runHarness(SKILL)
    const items = printed['items'] as { id: string; bucket: string; content: string }[]
    expect(items).toHaveLength(20)
    expect(items[0]?.content).toContain(`--- the text ---\n${SKILL}`)
    expect(listFailedGates(printed)).toEqual([])
  })

  it.each([
    [SKILL.replace('## Answer', 'Answer'), ['required_sections_present']],
    [`${SKILL}${'another sentence of advice that differs. '.repeat(60)}`, ['length_tokens']],
    [`${SKILL}\n${'report '.repeat(30)}\n`, ['keyword_share']],
    [`${SKILL}\nAnswer in Markdown only.\n\nAnswer in Markdown only.\n`, ['violation_count']],
    [SKILL.replace('description: Write a report.\n', ''), ['violation_count']],
    [`${SKILL}\n\`\`\`sh\n`, ['violation_count']],
  ])('catches a degenerate one by its gates: case %#', (text, failed) => {
    const printed = runHarness(text)
    expect(listFailedGates(printed)).toEqual(expect.arrayContaining(failed))
    expect(printed).toMatchObject(measureText(text))
  })
})
