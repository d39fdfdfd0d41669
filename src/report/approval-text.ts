import { type Addition, approvalMark, awaitedPackages, awaitedText } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { subjectsOf } from '../model/picked.ts'
import { oneLine } from '../model/landing.ts'
import { waitsOn } from '../plan/encore.ts'
import { cell } from './markdown.ts'
import { table } from './table.ts'

type Row = readonly [name: string, version: string, from: string, how: string, scripts: string, more: string]

const HEAD: Row = ['package', 'version', 'from', 'how', 'install scripts', 'licence']

const CELL = 80

/** Who waits for an approval, oldest first. */
export function deferredOf(campaign: Pick<Campaign, 'experiments' | 'picks'>): Experiment[] {
  return subjectsOf(campaign).filter(({ status }) => status === 'deferred')
}

/** One line for each experiment that waits, with what gives it what it waits for. */
export function deferredLines(
  campaign: Pick<Campaign, 'experiments' | 'picks' | 'status' | 'stop_code'>,
): string[] {
  return deferredOf(campaign).map(experiment => {
    const { id } = experiment
    const late = campaign.status === 'stopped' && waitsOn(campaign, experiment)
    const then = late ? ' gives it one more round at the next winnow run' : ''
    return `${id} is waiting for approval of ${awaitedText(experiment)}: winnow approve ${id}${then}`
  })
}

/** All that a person has to look at before saying yes, for a terminal. */
export function requestText(experiment: Experiment): string[] {
  const { id, approval, hypothesis } = experiment
  if (approval === null) return []
  return [
    `${id} is waiting for approval of ${awaitedText(experiment)}`,
    `  why: ${hypothesis}`,
    ...table(rowsOf(experiment)).map(line => `  ${line}`),
    `  set ${approval.digest.slice(0, DIGEST_SHOWN)}; how old a release is was not looked up: winnow asks no registry`,
  ]
}

/** Enough of it to be told apart. */
const DIGEST_SHOWN = 12

/** Says yes to what was shown and to nothing that took its place since. */
export function approveCommand({ id, approval }: Pick<Experiment, 'id' | 'approval'>): string {
  return `winnow approve ${id}${approval === null ? '' : ` --digest ${approval.digest.slice(0, DIGEST_SHOWN)}`}`
}

/** What it adds, whether or not that was approved since. */
export function additionsText(experiment: Experiment): string[] {
  return experiment.approval === null ? [] : ['', ...table(rowsOf(experiment)).map(line => `  ${line}`)]
}

/** The same for a pull request. */
export function requestMarkdown(experiment: Experiment): string[] {
  const { status } = experiment
  const mark = approvalMark(experiment)
  if (mark === null) return []
  const [head, ...rows] = rowsOf(experiment).map(row => `| ${row.map(cell).join(' | ')} |`)
  const how = status === 'deferred' ? ['', howText(experiment)] : []
  return ['', head ?? '', `|${' --- |'.repeat(HEAD.length + 1)}`, ...rows, ...how, '', mark]
}

/** Where there are reviews and comments, they are the nearer way. */
function howText(experiment: Experiment): string {
  const set = experiment.approval?.digest.slice(0, DIGEST_SHOWN) ?? ''
  return `Approve it with \`${approveCommand(experiment)}\`. On GitHub an approving review does it too, or the comment \`/winnow approve ${set}\`, by somebody else than its author.`
}

function rowsOf(experiment: Experiment): string[][] {
  const { approval } = experiment
  const additions = approval?.additions ?? []
  const awaited = new Set(awaitedPackages(experiment))
  const declared = [...awaited].filter(name => !additions.some(each => each.name === name))
  const state = (name: string) => (awaited.has(name) ? 'waits' : 'approved')
  return [
    [...HEAD, 'state'],
    ...additions.map(each => [...rowOf(each).map(text => oneLine(text, CELL)), state(each.name)]),
    ...declared.map(name => [
      name,
      'not in the change yet',
      '',
      'the idea says it needs it',
      '',
      '',
      state(name),
    ]),
  ]
}

function rowOf({ name, version, ecosystem, source, direct, scripts, licence, path }: Addition): Row {
  return [
    name,
    version,
    `${ecosystem}, ${source}`,
    `${direct === null ? 'unknown' : direct ? 'direct' : 'transitive'}, ${path}`,
    scripts === null ? 'unknown' : scripts ? 'runs' : 'none',
    licence ?? 'unknown',
  ]
}
