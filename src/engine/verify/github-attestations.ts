import { buildLocalIsolation } from '../../git/isolation.ts'
import { createGitRunner } from '../../git/runner.ts'
import type { AttestationService, SignedStatement } from '../../github/attestations.ts'
import { WORKFLOW_FILE } from '../../model/github.ts'
import { computeFileDigest, parseSubjectName } from '../../model/attestation.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Oid } from '../../model/ids.ts'
import type { CampaignContext } from '../campaign/context.ts'
import type { Finding } from './branches.ts'

interface AttestedLedger {
  context: CampaignContext
  refs: ReadonlyMap<string, Oid>
  ledger: { events: readonly LedgerEvent[] }
  campaign: Pick<Campaign, 'default_branch'>
}

interface AttestedEvents {
  attested: Set<number>
  findings: Finding[]
}

/**
 * Finds the events that runs of this repository's workflow wrote, as GitHub attests. A statement counts if the
 * workflow file of its run is one of the default branch, and if its run is the one that the events name.
 */
export async function findAttestedEvents(
  state: AttestedLedger,
  service: AttestationService,
): Promise<AttestedEvents> {
  const { events } = state.ledger
  const result: AttestedEvents = { attested: new Set(), findings: [] }
  const trust = new WorkflowTrust(state, service)
  const reasons = new Set<string>()
  for (const last of listRunEnds(events)) {
    if (result.attested.has(last.seq)) continue
    const { statements, rejected } = await service.find(computeFileDigest(last))
    for (const why of rejected) reasons.add(`an attestation of event ${last.seq} does not count: ${why}`)
    for (const statement of statements) {
      const distrust = await trust.explainDistrust(statement)
      if (distrust === null) addStatement(state, statement, result)
      else reasons.add(`an attestation of event ${last.seq} does not count: ${distrust}`)
    }
  }
  for (const what of reasons) result.findings.push({ what, is: 'open' })
  return result
}

const RUN_ID = /^actions:(\d+)$/

/** The last event of each stretch that one run wrote: the digests that its job attested. */
function listRunEnds(events: readonly LedgerEvent[]): LedgerEvent[] {
  return events.filter(({ by }, at) => RUN_ID.test(by.run_id) && events[at + 1]?.by.run_id !== by.run_id)
}

function addStatement(
  { context, ledger: { events } }: AttestedLedger,
  { subjects, run }: SignedStatement,
  { attested, findings }: AttestedEvents,
): void {
  const number = /\/actions\/runs\/(\d+)\/attempts\/\d+$/.exec(run)?.[1]
  const isOfRun = (event: LedgerEvent | undefined) =>
    number !== undefined && event !== undefined && RUN_ID.exec(event.by.run_id)?.[1] === number
  for (const { name, sha256 } of subjects) {
    const subject = parseSubjectName(name)
    if (subject?.campaign !== context.name) continue
    if (subject.of === 'report') {
      const event = events.find(each => each.kind === 'measured' && each.order === subject.order)
      if (event === undefined || computeFileDigest(event) === sha256) continue
      const what = `event ${event.seq} (measured) is not the report that run ${number} attested for order ${subject.order.slice(0, 12)}`
      findings.push({ what, seq: event.seq })
      continue
    }
    const range = events.slice(subject.from, subject.to + 1)
    const last = events[subject.to]
    if (last === undefined || computeFileDigest(last) !== sha256) {
      const what = `events ${subject.from} to ${subject.to} are not those that run ${number} attested`
      findings.push({ what, seq: subject.from })
    } else if (range.every(isOfRun)) for (const { seq } of range) attested.add(seq)
  }
}

/** Decides whether a run executed a workflow file that the default branch has had. */
class WorkflowTrust {
  readonly #state: AttestedLedger
  readonly #service: AttestationService
  #folders: Promise<ReadonlySet<Oid>> | null = null

  constructor(state: AttestedLedger, service: AttestationService) {
    this.#state = state
    this.#service = service
  }

  async explainDistrust({ workflow, repository, commit }: SignedStatement): Promise<string | null> {
    const { context, campaign } = this.#state
    const { repositoryUrl } = this.#service
    if (!hasAddress(repository, repositoryUrl) || repository.length !== repositoryUrl.length)
      return `it is of ${repository}`
    // The default branch may have been renamed since the first runs.
    const refs = [context.defaultBranch, campaign.default_branch, context.refs.optimize]
    const files = refs.map(ref => `/.github/workflows/${WORKFLOW_FILE}@${ref}`)
    const isOwn = hasAddress(workflow, repositoryUrl)
    if (!isOwn || !files.includes(workflow.slice(repositoryUrl.length))) return `it was signed by ${workflow}`
    if (!(await context.repository.has(commit)))
      return `its run started at commit ${commit}, which the branches of the campaign do not contain`
    this.#folders ??= this.#listWorkflowFolders()
    const folder = await this.#readFolder(commit)
    if (folder !== null && (await this.#folders).has(folder)) return null
    return `its run started at commit ${commit}, whose .github differs from that of ${campaign.default_branch}`
  }

  /** A person who may push to optimize/* could run another workflow file there, but not on the default branch. */
  async #listWorkflowFolders(): Promise<ReadonlySet<Oid>> {
    const { context, refs, campaign } = this.#state
    const { repository, env } = context
    const tip = refs.get(campaign.default_branch)
    if (tip === undefined) return new Set()
    const git = createGitRunner(buildLocalIsolation(repository.dir, env), { GIT_DIR: repository.dir })
    const commits = await git.run({
      args: ['log', '--full-history', '--format=%H', tip, '--', '.github'],
      parse: ({ stdout }) => stdout.split('\n').filter(line => line !== ''),
    })
    const folders = await Promise.all(commits.map(commit => this.#readFolder(commit)))
    return new Set(folders.filter(folder => folder !== null))
  }

  async #readFolder(commit: Oid): Promise<Oid | null> {
    const { repository } = this.#state.context
    const { tree } = await repository.commit(commit)
    return (await repository.findEntry(tree, '.github'))?.oid ?? null
  }
}

/** GitHub ignores case in names of owners and repositories, but not in those of branches and files. */
function hasAddress(text: string, address: string): boolean {
  return text.slice(0, address.length).toLowerCase() === address.toLowerCase()
}
