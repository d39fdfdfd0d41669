import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { expect, it } from 'vitest'
import { readHistoryFile, renderHistoryFile } from '../../src/ideas/prior-results.ts'
import { scratch } from '../git/scratch.ts'
import { ceLogSchema } from '../report/ce-log-schema.ts'
import { commandsOn } from '../page-commands.ts'
import { FILES, project, proven, SHORT, SPEC } from './project.ts'

const AGENT = `#!/bin/sh
seen=$(grep 'Write it twice' | head -n 1)
head -c 40 src/value > shorter && mv shorter src/value
printf '{"hypothesis": "%s"}\\n' "$seen"
`
const IMPORTS = join(import.meta.dirname, '../../fixtures/import')

const LOG = `spec: size
run_id: "1"
started_at: "2026-01-01T00:00:00Z"
experiments:
  - { iteration: 1, batch: 1, hypothesis: Write it twice, category: layout, outcome: reverted, learnings: it grew }
best: { iteration: 0 }
hypothesis_backlog:
  - { description: Use fewer letters, category: size, priority: high, dep_status: not_applicable, required_deps: [] }
`

it('prints what the page about import shows', async () => {
  const read = (file: string) => readFileSync(join(IMPORTS, file), 'utf8')
  const results = read('results.jsonl').split('\n').slice(0, 3)
  const person = project({
    ...FILES,
    'tasks/skill-quality/task.yaml': read('task.yaml'),
    'work/results.jsonl': `${results.join('\n')}\n`,
  })
  const shown = commandsOn('docs/import-and-export.md')
  expect(shown).toHaveLength(1)
  for (const { command, output } of shown) {
    const { code, out } = await person.winnow(...command.split(' ').slice(1))
    expect([code, out.split('\n').slice(0, output.length)]).toEqual([0, output])
  }
})

it('imports the history of another tool, and exports its own in every format', async () => {
  const person = project({ ...FILES, 'log.yaml': LOG })
  const dry = await person.winnow('import', 'log.yaml', '--dry-run')
  expect(dry.out).toContain('Nothing was written. It would write:\n\n--- .winnow/ideas/size.yaml\n')
  const imported = await person.winnow('import', 'log.yaml')
  expect([imported.code, imported.err]).toEqual([0, ''])
  expect(imported.out).toBe(`Read log.yaml: ce-optimize log, 1 result, 1 idea.
Not imported, or changed:
  log.yaml:6  best: winnow counts a version as the best only after it has measured it
Wrote .winnow/ideas/size.yaml, .winnow/history/size.yaml; nothing is committed.

Next:
  git add .winnow/ideas/size.yaml .winnow/history/size.yaml && git commit -m "winnow: import size"
  winnow check .winnow/size.yaml
  winnow idea import .winnow/ideas/size.yaml   # only if the campaign has started already
`)
  const again = await person.winnow('import', 'log.yaml')
  expect([again.code, again.err]).toEqual([
    2,
    'error: .winnow/ideas/size.yaml: .winnow/ideas/size.yaml exists already, and import does not overwrite it\n  fix: give --force to replace it, or --name\n',
  ])
  expect((await person.winnow('import', 'log.yaml', '--force')).code).toBe(0)
  const history = readFileSync(join(person.dir, '.winnow/history/size.yaml'), 'utf8')
  expect(readHistoryFile(history)).toMatchObject([{ idea: 'Write it twice', result: 'reverted' }])
  person.git('add', '.winnow')
  person.git('commit', '-q', '-m', 'import')

  await person.winnow('run')
  expect(JSON.parse((await person.winnow('idea', 'list', '--json')).out)).toMatchObject([
    { id: 'idea-001', hypothesis: 'Use fewer letters', priority: 'high', source: '.winnow/ideas/size.yaml' },
  ])
  person.write('src/value', SHORT)
  await person.winnow('try', '--idea', '1')
  const shown = await person.winnow('show', '1')
  expect(shown.out).toMatch(/^ {2}changes +1 file, \+1 -1: src\/value \+1 -1$/m)
  expect(JSON.parse((await person.winnow('show', '1', '--json')).out).diff).toEqual({
    files: 1,
    added: 1,
    deleted: 1,
    paths: ['M src/value +1 -1'],
  })

  const log = await person.winnow('export', '--format', 'ce-optimize')
  expect(ceLogSchema.parse(parse(log.out)).experiments).toMatchObject([
    { hypothesis: 'Use fewer letters', outcome: 'kept', changes: [{ file: 'src/value', summary: '+1 -1' }] },
  ])
  expect(
    ceLogSchema.parse(JSON.parse((await person.winnow('export', '--format', 'ce-optimize', '--json')).out))
      .spec,
  ).toBe('size')
  const written = await person.winnow('export', '--output', 'results.jsonl')
  expect([written.out, written.err]).toEqual(['', 'Wrote results.jsonl.\n'])
  const [line = ''] = readFileSync(join(person.dir, 'results.jsonl'), 'utf8').split('\n')
  expect(JSON.parse(line)).toMatchObject({ decision: 'keep', verdict: 'kept', diff_summary: { files: 1 } })
  expect((await person.winnow('export', '--format', 'csv')).out).toMatch(
    /^experiment,verdict,.*\nexp-001,kept,kept,/,
  )
  expect((await person.winnow('export', '--format', 'csv', '--json')).err).toContain('contradict each other')
  const benchmark = await person.winnow('export', '--format', 'github-action-benchmark')
  expect(JSON.parse(benchmark.out)).toMatchObject([{ name: 'bytes', unit: 'bytes' }])
  expect(benchmark.err).toBe(
    'note: set tool: customSmallerIsBetter in the step that uses github-action-benchmark\n',
  )
  expect((await person.winnow('export', '--output', 'nowhere/x')).err).toContain(
    'nowhere/x cannot be written',
  )
  await proven(person)
})

it('starts no campaign with ideas that cannot be read', async () => {
  const person = project({ ...FILES, '.winnow/ideas/size.yaml': '- { hypothesis: 3 }\n' })
  const { code, err } = await person.winnow('run')
  expect([code, err]).toEqual([2, expect.stringContaining('.winnow/ideas/size.yaml: entry 1 is not an idea')])
  expect(person.refs()).not.toContain('optimize')
})

it('tells proposers what other tools tried', async () => {
  const folder = scratch()
  writeFileSync(join(folder, 'claude'), AGENT)
  chmodSync(join(folder, 'claude'), 0o755)
  const spec = `${SPEC}stopping: { max_iterations: 1 }\nexecution: { mode: serial }\n`
  const history = renderHistoryFile([
    { from: 'evo, graph.json', idea: 'Write it twice', result: 'discarded' },
  ])
  const person = project({ ...FILES, '.winnow/size.yaml': spec, '.winnow/history/size.yaml': history })
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` }
  await person.winnowWith({ env }, 'run', '--agent', 'claude')
  expect((await person.winnow('log')).out).toContain('- `Write it twice` `discarded`, evo, graph.json')
  await proven(person)
})
