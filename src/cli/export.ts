import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parse } from 'yaml'
import { requireCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import { listExperiments } from '../model/experiment.ts'
import { EXPORT_FORMATS, exportCampaign } from '../report/export.ts'
import { withCampaign } from './context.ts'
import { readHistories } from './inspect.ts'
import { gatherResults } from './status.ts'
import type { Verb } from './verb.ts'

export const exportVerb: Verb = {
  name: 'export',
  group: 'more',
  summary: 'print the results of a campaign in the format of another tool, or as charts',
  access: 'read',
  options: [
    { name: 'format', values: EXPORT_FORMATS, summary: 'the format; jsonl by default' },
    { name: 'output', value: 'file', summary: 'write to this file instead' },
  ],
  examples: [
    'winnow export --output results.jsonl',
    'winnow export --format ce-optimize --output experiment-log.yaml',
    'winnow export --format csv --output results.csv',
    'winnow export --format github-action-benchmark --output benchmark.json',
    'winnow export --format svg --output charts.svg',
  ],
  run: call =>
    withCampaign(call, { access: 'read', startedOnly: true }, async context => {
      const { given, terminal, environment } = call
      const format = EXPORT_FORMATS.find(each => each === given.text('format')) ?? 'jsonl'
      const asJson = given.flag('json')
      if (asJson && (format === 'csv' || format === 'svg'))
        throw new UserError(`--json and --format ${format} contradict each other`, {
          fix: 'give one of the two',
        })
      const { loaded, spec } = await requireCampaign(context.campaignContext)
      const { campaign } = loaded
      const experiments = await gatherResults(context, listExperiments(campaign), new Map())
      const histories = format === 'svg' ? await readHistories(context) : []
      const { text, notes } = exportCampaign(format, { campaign, spec, experiments, histories })
      const written = asJson && format === 'ce-optimize' ? `${JSON.stringify(parse(text))}\n` : text
      const output = given.text('output')
      if (output === undefined) for (const line of written.trimEnd().split('\n')) terminal.out(line)
      else await writeExport(resolve(environment.directory, output), output, written)
      for (const note of notes) terminal.err(`note: ${note}`)
      if (output !== undefined) terminal.err(`Wrote ${output}.`)
      return 0
    }),
}

async function writeExport(file: string, typed: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new UserError(`${typed} cannot be written: ${why}`, {
      place: { file: typed },
      fix: 'name a file in a directory that exists',
      cause,
    })
  }
}
