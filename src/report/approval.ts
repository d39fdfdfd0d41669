import { formatCount } from '../decide/wording.ts'
import {
  type Approvers,
  computeAgeDays,
  describeAwaitedPackages,
  describeRequest,
  findLockedVersions,
  formatPackage,
  getShortDigest,
  type HoldFinding,
  isOldEnough,
  listAwaitedFindings,
  listAwaitedPackages,
  listTeams,
  type PackageAddition,
  READS_TEAMS,
  summarizeFindings,
} from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import { type Experiment, listSubjects } from '../model/experiment.ts'
import { parseReason, toOneLine } from '../model/text.ts'
import { HELD_REASON } from '../plan/holds.ts'
import type { Spec } from '../spec/schema.ts'
import { toShortId } from './event-log.ts'
import { escapeMarkdown, fitLines, formatCode } from './markdown.ts'
import { formatTable } from './terminal.ts'
import { listKeptExperiments } from './verdict-text.ts'

const COLUMN_TITLES = [
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

const MAX_CELL_LENGTH = 80
const MAX_PLACE_LENGTH = 300
const MAX_HOLD_LENGTH = 600
/** Most of the 60,000 characters of a comment are for the packages to review. */
const MAX_TABLE_LENGTH = 40_000
const MAX_KEPT_TABLE_LENGTH = 12_000

// Requests

/** Oldest first. */
export function listAwaitingApproval(campaign: Pick<Campaign, 'experiments' | 'picks'>): Experiment[] {
  return listSubjects(campaign).filter(({ status }) => status === 'deferred')
}

/** The commits that a diff needs. `remote` is null where the person's repository has them. */
export interface DiffSource {
  incumbent: Campaign['incumbent']
  remote: string | null
}

/** Lists all that a person must review before approving, for a terminal. */
export function renderApprovalRequest(experiment: Experiment, source: DiffSource | null = null): string[] {
  const { id, approval, hypothesis } = experiment
  if (approval === null) return []
  return [
    `${id} is waiting for approval of ${describeAwaitedPackages(experiment)}`,
    listAwaitedFindings(experiment).length > 0 ? `  idea: ${hypothesis}` : `  why: ${hypothesis}`,
    ...renderAdditions(experiment),
    ...renderDiffCommand(experiment, source),
    `  set ${getShortDigest(approval)}`,
  ]
}

/** A person has to read a held change, and not only its lines that look suspicious. */
function renderDiffCommand(experiment: Experiment, source: DiffSource | null): string[] {
  const { head } = experiment
  if (source === null || head === null || listAwaitedFindings(experiment).length === 0) return []
  const { incumbent, remote } = source
  const fetch = remote === null ? '' : `git fetch -q ${remote} ${incumbent.commit} ${head} && `
  return [`  read it: ${fetch}git diff ${toShortId(incumbent.commit)}...${toShortId(head)}`]
}

/** The digest limits the approval to the packages that were shown. */
export function formatApproveCommand({ id, approval }: Pick<Experiment, 'id' | 'approval'>): string {
  return `winnow approve ${id}${approval === null ? '' : ` --digest ${getShortDigest(approval)}`}`
}

export function renderAdditions(experiment: Experiment): string[] {
  const rows = buildAdditionRows(experiment)
  const table = rows.length > 1 ? formatTable(rows) : []
  const findings = listHeadFindings(experiment).map(finding => {
    const { place, text } = locateFinding(finding)
    return `  ${place}: ${text}`
  })
  const heading = findings.length === 0 ? [] : [describeFindingsState(experiment)]
  return [...heading, ...findings, ...table].map(line => `  ${line}`)
}

export function renderApprovalMarkdown(experiment: Experiment, approvers: Approvers = 'write'): string[] {
  const { status, approval } = experiment
  if (approval === null) return []
  const [head = [], ...packages] = buildAdditionRows(experiment)
  // The heading above the table already gives the state when it is the same for all rows.
  const isMixed = packages.some(row => row.at(-1) !== packages[0]?.at(-1)) || status !== 'deferred'
  const columns = isMixed ? head : head.slice(0, -1)
  const rows = packages.map(row => row.slice(0, columns.length))
  const more = `\`winnow show ${experiment.id}\` lists all of them.`
  const how = status === 'deferred' ? ['', describeHowToApprove(experiment, approvers)] : []
  const table = renderAdditionTable(columns, rows, { room: MAX_TABLE_LENGTH, more })
  const why = ['', `Why it is needed: ${escapeMarkdown(approval.why)}`]
  return [...renderFindingsMarkdown(experiment), ...(rows.length === 0 ? [] : ['', ...table, ...why]), ...how]
}

/** Example: "**Waiting for approval of its change.** Measured: bytes 100 → 20 (-80.0 %), but a person has to …" */
export function renderApprovalHeadline(experiment: Experiment): string {
  if (listAwaitedFindings(experiment).length === 0)
    return `**Waiting for approval of ${escapeMarkdown(describeAwaitedPackages(experiment))}.**`
  const packages = describeAwaitedAdditions(experiment)
  const also = packages === '' ? '' : ` and of ${escapeMarkdown(packages)}`
  return `**Waiting for approval of its change${also}.** ${describeHold(experiment)}`
}

/** The measured result of a held change, and what it waits for. */
function describeHold({ reason }: Experiment): string {
  const { sentence } = parseReason(reason ?? HELD_REASON)
  const words = sentence.replaceAll(' -> ', ' → ').replace(/\.$/, '')
  return `Measured: ${escapeMarkdown(words, MAX_HOLD_LENGTH)}.`
}

// Findings

/** Example: "src/a.ts:3 can end the process early", "process.exit(0)". */
function locateFinding({ name, path, line, text }: HoldFinding): { place: string; text: string } {
  const place = path === null || line === null ? name : name.replace(path, () => `${path}:${line}`)
  return { place, text: toOneLine(text, MAX_CELL_LENGTH) }
}

/** Findings are about one head. A newer head is measured and checked by itself. */
function listHeadFindings({ approval, held, head }: Experiment): readonly HoldFinding[] {
  return held !== null && held.head === head ? (approval?.findings ?? []) : []
}

export function renderFindingsMarkdown(experiment: Experiment): string[] {
  const findings = listHeadFindings(experiment)
  if (findings.length === 0) return []
  const lines = findings.map(finding => {
    const { place, text } = locateFinding(finding)
    return `- ${escapeMarkdown(place, MAX_PLACE_LENGTH)}: ${finding.path === null ? escapeMarkdown(text) : formatCode(text)}`
  })
  return ['', escapeMarkdown(describeFindingsState(experiment)), '', ...lines]
}

function describeFindingsState(experiment: Experiment): string {
  const { status, approval, consents } = experiment
  if (status === 'deferred')
    return 'Check these points. They are often harmless, but they can make a benchmark report a false gain:'
  if (listAwaitedFindings(experiment).length > 0) return 'winnow held this change for a person to read:'
  const given = consents.filter(({ digest }) => digest === approval?.digest)
  return `Checked and approved by ${[...new Set(given.map(({ login }) => login))].join(' and ')}:`
}

function renderAdditionTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  { room, more }: { room: number; more: string },
): string[] {
  const shown = fitLines(rows.map(renderAdditionRow), room, left => `\n… and ${left} more: ${more}`)
  return [renderAdditionRow(columns), `|${' --- |'.repeat(columns.length - 1)}`, ...shown]
}

/** Keeps the row narrow enough for a pull request: joins package and version, and omits the usual protocol. */
function renderAdditionRow([name = '', version = '', from = '', ...rest]: readonly string[]): string {
  const whole = version === '' ? name : `${name} ${version}`
  const source = from.replace(/^(\w+, )https:\/\/([^/]+)\/?$/, '$1$2')
  return `| ${[name === COLUMN_TITLES[0] ? name : whole, source, ...rest].map(text => escapeMarkdown(text)).join(' | ')} |`
}

/** Posted on the campaign's pull request, or on the experiment's own if the campaign has none yet. */
export function renderApprovalComment(experiment: Experiment, here = false): string {
  const { id, pull } = experiment
  if (!here) return `${renderApprovalTask(pull === null ? id : `#${pull}`, experiment)}\n`
  if (listAwaitedFindings(experiment).length > 0)
    return `${describeHold(experiment)} The points to check are listed above. Review and approve the change here.\n`
  const what = escapeMarkdown(describeAwaitedPackages(experiment))
  return `This change adds ${what}, listed above. Review and approve it here to have it measured.\n`
}

export function renderApprovalTask(reference: string, experiment: Experiment): string {
  const findings = listAwaitedFindings(experiment).map(({ name }) => name)
  if (findings.length > 0) {
    const packages = describeAwaitedAdditions(experiment)
    const also = packages === '' ? '' : ` It also adds ${escapeMarkdown(packages)}.`
    return `${reference} would be kept, but a person has to read it first: ${escapeMarkdown(summarizeFindings(findings), MAX_PLACE_LENGTH)}.${also} Review and approve it there.`
  }
  const what = escapeMarkdown(describeAwaitedPackages(experiment))
  return `${reference} adds ${what}. Review and approve it there to have it measured.`
}

/** Empty if only the change itself waits. */
function describeAwaitedAdditions(experiment: Experiment): string {
  const findings = new Set(listAwaitedFindings(experiment).map(({ name }) => name))
  const packages = listAwaitedPackages(experiment).filter(name => !findings.has(name))
  return describeRequest(packages, experiment.approval ?? {})
}

// Packages of kept changes

/** For the person who merges all kept changes: also packages that were approved earlier. */
function listKeptPackages(campaign: Campaign): { experiment: Experiment; addition: ShownAddition }[] {
  const found = new Map<string, { experiment: Experiment; addition: ShownAddition }>()
  for (const experiment of listKeptExperiments(campaign))
    for (const addition of mergeManifestEntries(experiment.approval?.additions ?? []))
      found.set(`${addition.path} ${addition.name} ${addition.version}`, { experiment, addition })
  return [...found.values()]
}

export function renderKeptPackagesTable(campaign: Campaign): string[] {
  const rows = listKeptPackages(campaign).map(({ experiment, addition }) => [
    ...buildAdditionRow(addition, experiment),
    experiment.id,
  ])
  if (rows.length === 0) return []
  const head = [...COLUMN_TITLES.slice(0, -1), 'with']
  const more = '`winnow show` lists those of an experiment.'
  return [
    '**Packages it adds**',
    '',
    ...renderAdditionTable(head, rows, { room: MAX_KEPT_TABLE_LENGTH, more }),
  ]
}

export function renderKeptPackageLines(campaign: Campaign): string[] {
  const lines = listKeptPackages(campaign).map(
    ({ experiment, addition }) => `${formatPackage(addition)}, with ${experiment.id}`,
  )
  return [...new Set(lines)]
}

// Shared parts

/** Lists the quickest way first: a review, then a comment, then the command line. */
function describeHowToApprove(experiment: Experiment, approvers: Approvers): string {
  const set = experiment.approval === null ? '' : getShortDigest(experiment.approval)
  return `**To approve**, review this pull request and choose *Approve*, or comment \`/winnow approve ${set}\`. ${describeApprovers(approvers)} can do this, but not its author. In a terminal: \`${formatApproveCommand(experiment)}\`.${describeApproverTeams(approvers)} ${listAwaitedFindings(experiment).length > 0 ? 'Then winnow measures the change once more, and keeps it if it is better again. **To reject** the change, close this pull request.' : 'Nothing of the change is executed before that.'}`
}

function describeApprovers(approvers: Approvers): string {
  if (approvers === 'write') return 'Everyone with write access'
  return approvers === 'admin' ? 'Every admin' : joinEscaped(approvers)
}

function describeApproverTeams(approvers: Approvers): string {
  const teams = listTeams(approvers)
  return teams.length === 0 ? '' : ` The members of ${joinEscaped(teams)} are read with ${READS_TEAMS}.`
}

function joinEscaped(names: readonly string[]): string {
  return names.map(name => escapeMarkdown(name)).join(', ')
}

/** `manifest`: the file that asks for a locked package, and the range it asks for. */
type ShownAddition = PackageAddition & { manifest?: string }

/** Shows a package once that a manifest asks for and a lockfile pins, unless the two name another source. */
function mergeManifestEntries(additions: readonly PackageAddition[]): ShownAddition[] {
  const shown = additions.map((each): ShownAddition => ({ ...each }))
  const asked = shown.filter(each => {
    const locked = findLockedVersions(each, shown).filter(({ direct }) => direct !== false)
    if (each.source !== 'registry' || locked.length !== 1) return false
    for (const one of locked)
      Object.assign(one, { direct: true, manifest: `${each.version} in ${each.path}` })
    return true
  })
  return shown.filter(each => !asked.includes(each))
}

function buildAdditionRows(experiment: Experiment): string[][] {
  const { approval } = experiment
  if (approval === null) return []
  const awaited = new Set(listAwaitedPackages(experiment))
  const listed = new Set([...approval.additions, ...approval.findings].map(({ name }) => name))
  const declared = [...awaited].filter(name => !listed.has(name))
  const state = (name: string) => (awaited.has(name) ? 'waits' : 'approved')
  return [
    COLUMN_TITLES,
    ...mergeManifestEntries(approval.additions).map(each => [
      ...buildAdditionRow(each, experiment),
      state(each.name),
    ]),
    ...declared.map(name => {
      const known = [name, 'not in the change yet', '', 'the idea says it needs it']
      const row = [...known, ...COLUMN_TITLES.slice(known.length, -1).map(() => ''), state(name)]
      return row.map(text => toOneLine(text, MAX_CELL_LENGTH))
    }),
  ]
}

function buildAdditionRow(addition: ShownAddition, { approval, asked_at }: Experiment): string[] {
  const { name, version, ecosystem, source, direct, scripts, licence, path, manifest } = addition
  const how = direct === null ? 'unknown' : direct ? 'direct' : 'transitive'
  const texts = [
    name,
    version,
    `${ecosystem}, ${source}`,
    [how, path, ...(manifest === undefined ? [] : [manifest])].join(', '),
    describeExtraPackages(addition),
    scripts === null ? 'unknown' : scripts ? 'runs' : 'none',
    licence ?? 'unknown',
    describeReleaseAge(addition, { asked_at, least: approval?.min_age_days ?? 0 }),
  ]
  return texts.map(text => toOneLine(text, MAX_CELL_LENGTH))
}

/** Never claims that there are none where they could not be determined. */
function describeExtraPackages({ direct, brings }: PackageAddition): string {
  if (direct === false) return ''
  if (brings === undefined || brings === null) return 'unknown'
  return brings === 0 ? 'no other' : `${brings} more`
}

const REQUIREMENT_NOTE = { hash: '', name: ', by name', range: ', the youngest in range' } as const

/** Uses the age at the time of the lookup, so that the text stays the same. */
function describeReleaseAge(
  { released, released_by: by }: PackageAddition,
  { asked_at, least }: { asked_at: string | null; least: number },
): string {
  const days = computeAgeDays(released, asked_at)
  if (released === undefined) return 'not asked'
  if (released === null || days === null) return 'unknown'
  const age = days === 0 ? 'less than a day' : formatCount(days, 'day')
  const isOld = isOldEnough(released, least, asked_at ?? '')
  const ageNote = isOld ? '' : `, less than ${formatCount(least, 'day')}`
  return `${released.slice(0, 10)} (${age}${ageNote}${REQUIREMENT_NOTE[by ?? 'hash']})`
}

export function describeDependencyPolicy({ dependencies }: Pick<Spec, 'dependencies'>): string {
  const { approved, approval, min_release_age_days: days, allow_scripts: scripts } = dependencies
  const age = days === 0 ? '' : ` once they are ${formatCount(days, 'day')} old`
  const named = approved.length === 0 ? [] : [`${approved.join(', ')} may be added${age}`]
  const other = approved.length === 0 ? 'new packages' : 'other packages'
  const rest = approval === 'deny' ? `${other} are refused` : `${other} wait for winnow approve`
  const running = scripts || approval === 'deny' ? [] : ['those with install scripts are refused']
  return [...named, rest, ...running].join('; ')
}
