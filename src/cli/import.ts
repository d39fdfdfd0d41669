import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { formatCount } from '../decide/wording.ts'
import { UserError } from '../errors.ts'
import { inspectCheckout } from '../git/work-tree.ts'
import { buildIdeasPath } from '../ideas/prior-results.ts'
import type { ImportSource } from '../init/import/imported.ts'
import { IMPORT_KINDS, type ImportedCampaign, importFiles } from '../init/import/import-files.ts'
import { quoteShell, toVisibleText } from '../model/text.ts'
import { KEBAB, KEBAB_TEXT } from '../spec/schema.ts'
import { readGivenFile } from './context.ts'
import { requireAbsent, writeNewFiles } from './init.ts'
import type { Call, Verb } from './verb.ts'

export const importVerb: Verb = {
  name: 'import',
  group: 'more',
  summary: 'turn the spec, the ideas and the results of another tool into files of winnow',
  access: 'apart',
  arguments: [
    {
      name: 'file',
      summary:
        'a file of ce-optimize, the artifact loop, AWP, evo, autoresearch or autoloop; several make one campaign',
      required: true,
      many: true,
    },
  ],
  options: [
    { name: 'kind', values: IMPORT_KINDS, summary: 'the tool, if the content does not show it' },
    { name: 'name', value: 'name', summary: 'name of the campaign; by default the one in the files' },
    {
      name: 'direction',
      values: ['minimize', 'maximize'],
      summary: 'which way the metric is better, if the files do not say it',
    },
    { name: 'force', summary: 'overwrite files that exist' },
    { name: 'dry-run', summary: 'print the files instead of writing them' },
  ],
  examples: [
    'winnow import tasks/skill-quality/task.yaml work/results.jsonl',
    'winnow import .evo/run_0000/config.json .evo/run_0000/graph.json',
    'winnow import results.tsv --dry-run',
  ],
  run: importCampaign,
}

async function importCampaign(call: Call): Promise<number> {
  const { given, environment, terminal } = call
  const { topLevel } = await inspectCheckout(environment.directory, environment.env)
  if (topLevel === null)
    throw new UserError('this is a bare repository, and import needs a work tree to write files to', {
      fix: 'run it in a clone',
    })
  const name = given.text('name')
  if (name !== undefined && !KEBAB.test(name))
    throw new UserError(`${name} cannot be a spec's name`, { fix: `use ${KEBAB_TEXT}` })
  const sources: ImportSource[] = []
  for (const typed of given.positionals)
    sources.push({
      file: toRepositoryFile(topLevel, environment.directory, typed),
      text: await readGivenFile(call, typed, 'name a file of another tool'),
    })
  const options = { kind: given.text('kind'), name, direction: given.text('direction') }
  const imported = importFiles(sources, options)
  for (const line of describeImport(imported)) terminal.out(line)
  const rules = {
    verb: 'import',
    fix: 'give --force to replace it, or --name',
    overwrite: given.flag('force'),
  }
  if (given.flag('dry-run')) {
    requireAbsent(topLevel, imported.files, rules)
    terminal.out('Nothing was written. It would write:')
    for (const { path, text } of imported.files)
      terminal.out(`\n--- ${path}\n${toVisibleText(text).trimEnd()}`)
    return 0
  }
  await writeNewFiles(topLevel, imported.files, rules)
  terminal.out(`Wrote ${imported.files.map(({ path }) => path).join(', ')}; nothing is committed.`)
  const hasSpec = imported.specPath !== null || existsSync(join(topLevel, `.winnow/${imported.name}.yaml`))
  for (const line of listNextCommands(call, topLevel, imported, hasSpec)) terminal.out(line)
  return 0
}

/** Commands run at the top of the repository, so paths start there. */
function toRepositoryFile(topLevel: string, directory: string, typed: string): string {
  const path = relative(topLevel, resolve(directory, typed))
  return path.startsWith('..') ? typed : path
}

function describeImport({ read, left }: ImportedCampaign): string[] {
  const found = read.map(({ file, what, ideas, results }) => {
    const counts = [
      ...(results > 0 ? [formatCount(results, 'result')] : []),
      ...(ideas > 0 ? [formatCount(ideas, 'idea')] : []),
    ]
    return `Read ${file}: ${[what, ...counts].join(', ')}.`
  })
  const lost = left.map(
    ({ file, line, text }) => `  ${line === null ? file : `${file}:${line}`}  ${toVisibleText(text)}`,
  )
  return lost.length === 0
    ? [...found, 'Everything was imported.']
    : [...found, 'Not imported, or changed:', ...lost]
}

function listNextCommands(
  { environment }: Call,
  topLevel: string,
  { name, files }: ImportedCampaign,
  hasSpec: boolean,
): string[] {
  const typed = (path: string) => quoteShell(relative(environment.directory, join(topLevel, path)))
  const ideas = files.find(({ path }) => path === buildIdeasPath(name))
  const lines = [
    '',
    'Next:',
    `  git add ${files.map(({ path }) => typed(path)).join(' ')} && git commit -m "winnow: import ${name}"`,
  ]
  if (!hasSpec) lines.push(`  winnow init --name ${name}   # the files do not say how to measure`)
  else lines.push(`  winnow check ${typed(`.winnow/${name}.yaml`)}`)
  if (ideas !== undefined)
    lines.push(`  winnow idea import ${typed(ideas.path)}   # only if the campaign has started already`)
  return lines
}
