import {
  type Addition,
  additionText,
  approvalMark,
  awaitedPackages,
  awaitedText,
  shownDigest,
} from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { subjectsOf } from '../model/picked.ts'
import { oneLine } from '../model/landing.ts'
import { plural } from '../decide/wording.ts'
import { ageInDays, isOldEnough } from '../model/release.ts'
import { type Approvers, READS_TEAMS, teamsAmong } from '../forge/may-approve.ts'
import { cell, withRoom } from './markdown.ts'
import { table } from './table.ts'
import { keptExperiments } from './taken-back.ts'

const HEAD = [
  'package',
  'version',
  'from',
  'how',
  'brings',
  'install scripts',
  'licence',
  'released',
  'state',
]

const CELL = 80

/** Who waits for an approval, oldest first. */
export function deferredOf(campaign: Pick<Campaign, 'experiments' | 'picks'>): Experiment[] {
  return subjectsOf(campaign).filter(({ status }) => status === 'deferred')
}

/** All that a person has to look at before saying yes, for a terminal. */
export function requestText(experiment: Experiment): string[] {
  const { id, approval, hypothesis } = experiment
  if (approval === null) return []
  return [
    `${id} is waiting for approval of ${awaitedText(experiment)}`,
    `  why: ${hypothesis}`,
    ...table(rowsOf(experiment)).map(line => `  ${line}`),
    `  set ${shownDigest(approval)}`,
  ]
}

/** Says yes to what was shown and to nothing that took its place since. */
export function approveCommand({ id, approval }: Pick<Experiment, 'id' | 'approval'>): string {
  return `winnow approve ${id}${approval === null ? '' : ` --digest ${shownDigest(approval)}`}`
}

/** What it adds, whether or not that was approved since. */
export function additionsText(experiment: Experiment): string[] {
  return experiment.approval === null ? [] : ['', ...table(rowsOf(experiment)).map(line => `  ${line}`)]
}

/** The same for a pull request. */
export function requestMarkdown(experiment: Experiment, approvers: Approvers = 'write'): string[] {
  const { status, approval } = experiment
  const mark = approvalMark(experiment)
  if (mark === null) return []
  const [head = [], ...packages] = rowsOf(experiment)
  // What waits as a whole is said above the table.
  const isMixed = packages.some(row => row.at(-1) !== packages[0]?.at(-1)) || status !== 'deferred'
  const columns = isMixed ? head : head.slice(0, -1)
  const rows = packages.map(row => markdownRow(row.slice(0, columns.length)))
  const how = status === 'deferred' ? ['', howText(experiment, approvers)] : []
  const why = ['', `Why it is needed: ${cell(approval?.why ?? '')}`]
  const shown = withRoom(
    rows,
    ROOM,
    left => `\n… and ${left} more: \`winnow show ${experiment.id}\` lists all of them.`,
  )
  const top = markdownRow(columns)
  return ['', top, `|${' --- |'.repeat(columns.length - 1)}`, ...shown, ...why, ...how, '', mark]
}

/** Narrow enough for a pull request: the package with its version, the usual protocol left out. */
function markdownRow([name = '', version = '', from = '', ...rest]: readonly string[]): string {
  const whole = version === '' ? name : `${name} ${version}`
  const source = from.replace(/^(\w+, )https:\/\/([^/]+)\/?$/, '$1$2')
  return `| ${[name === HEAD[0] ? name : whole, source, ...rest].map(text => cell(text)).join(' | ')} |`
}

/** A comment for the people who may approve: on the campaign's pull request, or on the experiment's own before that exists. */
export function waitingText(experiment: Experiment, here = false): string {
  const { id, pull } = experiment
  const where = pull === null ? id : `#${pull}`
  const what = cell(awaitedText(experiment))
  const said = here
    ? `This change adds ${what}, listed above. Review and approve it here to have it measured.`
    : `${where} adds ${what}. Review and approve it there to have it measured.`
  return `${said}\n\n${approvalMark(experiment) ?? ''}\n`
}

/** Of the 60,000 characters that a forge takes, most are for what has to be looked at. */
const ROOM = 40_000

/** Packages that came with what was kept, for whoever takes all of it: once more, whoever approved them then. */
export function keptPackages(campaign: Campaign): { experiment: Experiment; addition: Addition }[] {
  const found = new Map<string, { experiment: Experiment; addition: Addition }>()
  for (const experiment of keptExperiments(campaign))
    for (const addition of experiment.approval?.additions ?? [])
      found.set(`${addition.path} ${addition.name} ${addition.version}`, { experiment, addition })
  return [...found.values()]
}

const KEPT_ROOM = 12_000

/** The same as a table, where there are any. */
export function keptPackagesMarkdown(campaign: Campaign): string[] {
  const rows = keptPackages(campaign).map(({ experiment, addition }) => {
    const texts = rowOf(addition, experiment).map(text => oneLine(text, CELL))
    return markdownRow([...texts, experiment.id])
  })
  if (rows.length === 0) return []
  const head = [...HEAD.slice(0, -1), 'with']
  return [
    '',
    '**Packages it adds**',
    '',
    markdownRow(head),
    `|${' --- |'.repeat(head.length - 1)}`,
    ...withRoom(
      rows,
      KEPT_ROOM,
      left => `\n… and ${left} more: \`winnow show\` lists those of an experiment.`,
    ),
  ]
}

/** One line for each, for a terminal. */
export function keptPackageLines(campaign: Campaign): string[] {
  const lines = keptPackages(campaign).map(
    ({ experiment, addition }) => `${additionText(addition)}, with ${experiment.id}`,
  )
  return [...new Set(lines)]
}

/** A review is the nearest way, then a comment, then the command line. */
function howText(experiment: Experiment, approvers: Approvers): string {
  const set = experiment.approval === null ? '' : shownDigest(experiment.approval)
  return `**To approve**, review this pull request and choose *Approve*, or comment \`/winnow approve ${set}\`. ${whoText(approvers)} can do this, but not its author. In a terminal: \`${approveCommand(experiment)}\`.${teamsText(approvers)} Nothing of the change is executed before that.`
}

function whoText(approvers: Approvers): string {
  if (approvers === 'write') return 'Everyone with write access'
  return approvers === 'admin' ? 'Every admin' : `${approvers.map(text => cell(text)).join(', ')}`
}

function teamsText(approvers: Approvers): string {
  const teams = teamsAmong(approvers)
  return teams.length === 0
    ? ''
    : ` The members of ${teams.map(text => cell(text)).join(', ')} are read with ${READS_TEAMS}.`
}

function rowsOf(experiment: Experiment): string[][] {
  const { approval } = experiment
  const additions = approval?.additions ?? []
  const awaited = new Set(awaitedPackages(experiment))
  const declared = [...awaited].filter(name => !additions.some(each => each.name === name))
  const state = (name: string) => (awaited.has(name) ? 'waits' : 'approved')
  return [
    HEAD,
    ...additions.map(each => [...rowOf(each, experiment), state(each.name)].map(text => oneLine(text, CELL))),
    ...declared.map(name => {
      const known = [name, 'not in the change yet', '', 'the idea says it needs it']
      return [...known, ...HEAD.slice(known.length, -1).map(() => ''), state(name)]
    }),
  ]
}

function rowOf(addition: Addition, { approval, asked_at }: Experiment): string[] {
  const { name, version, ecosystem, source, direct, scripts, licence, path } = addition
  return [
    name,
    version,
    `${ecosystem}, ${source}`,
    `${direct === null ? 'unknown' : direct ? 'direct' : 'transitive'}, ${path}`,
    broughtText(addition),
    scripts === null ? 'unknown' : scripts ? 'runs' : 'none',
    licence ?? 'unknown',
    releasedText(addition, { asked_at, least: approval?.min_age_days ?? 0 }),
  ]
}

/** What came with another says nothing; where it cannot be told that is said, and never that there is nothing. */
function broughtText({ direct, brings }: Addition): string {
  if (direct === false) return ''
  if (brings === undefined || brings === null) return 'unknown'
  return brings === 0 ? 'no other' : `${brings} more`
}

const SURELY = { hash: '', name: ', by name', range: ', the youngest in range' } as const

/** As old as it was when it was asked about, so that the text stays the same. */
function releasedText(
  { released, released_by: by }: Addition,
  { asked_at, least }: { asked_at: string | null; least: number },
): string {
  const days = ageInDays(released, asked_at)
  if (released === undefined) return 'not asked'
  if (released === null || days === null) return 'unknown'
  const age = days === 0 ? 'less than a day' : plural(days, 'day')
  const young = isOldEnough(released, least, asked_at ?? '') ? '' : `, less than ${plural(least, 'day')}`
  return `${released.slice(0, 10)} (${age}${young}${SURELY[by ?? 'hash']})`
}
