import { digestTouchedLines } from '../../src/decide/selection.ts'
import { MACHINE } from '../model/a-machine.ts'
import { NO_ADDITIONS } from './an-addition.ts'
import { checkChanges } from '../../src/decide/scope-check.ts'
import { hashSha256, toCanonicalJson } from '../../src/model/canonical-json.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import type { EventDraft } from '../../src/model/event.ts'
import type { Oid, Point } from '../../src/model/ids.ts'
import type { Side } from '../../src/model/report.ts'
import type { PlanAction, PlanStep } from '../../src/plan/action.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import type {
  CandidateFacts,
  Proposal,
  PullFacts,
  RevertFacts,
  RunFacts,
  SyncFacts,
  World,
  PickFacts,
} from '../../src/plan/world.ts'
import { compileScope } from '../../src/spec/scope.ts'
import { type ParsedSpecFile, parseSpec } from '../../src/spec/load.ts'
import type { ForgeChange } from '../../src/github/port.ts'
import { CampaignBuilder } from './a-campaign.ts'
import { changesOf, withChanges } from './desired.ts'
import { type Behaviour, cutOff, reportOf } from './a-report.ts'
import { eventsOf, landed, reverted } from './a-world.ts'
import { type Files, SmallGit } from './small-git.ts'

const SPEC_PATH = '.winnow/size.yaml'

/** An idea as a patch would bring it: files it writes on whatever is the incumbent by then. */
export interface Idea {
  name: string
  files: Files
  category: string
  priority: 'high' | 'medium' | 'low'
  required_deps?: string[]
  simplifies?: boolean
}

export interface SiteOptions {
  spec: string
  files: Files
  ideas: Idea[]
  /** Orders are measured in jobs of their own, as on GitHub. */
  elsewhere?: boolean
  /** The boot id of the machine that measures the nth order; the same one unless told. */
  bootOf?: (nth: number) => string
}

const parsed = new Map<string, ParsedSpecFile>()

/** Parsing is most of what a look costs, and there are few specs. */
function specOf(yaml: string): ParsedSpecFile {
  const known = parsed.get(yaml) ?? parseSpec(yaml, { file: SPEC_PATH })
  parsed.set(yaml, known)
  return known
}

/** A whole campaign in memory: small git, refs, pull requests and a runner, carried by `plan` and nothing else. */
export class Site {
  readonly git = new SmallGit()
  readonly ledger: CampaignBuilder
  readonly pulls: PullFacts[] = []
  readonly branches = new Map<string, Oid>()
  readonly runs = new Map<string, RunFacts>()
  readonly kept = new Set<Oid>()
  optimize: Oid | null
  campaignTip: Oid | null = null
  main: Point
  ideas: Idea[]
  /** How much time passed besides the looks. */
  hoursLater = 0
  readonly #elsewhere: boolean
  readonly #bootOf: (nth: number) => string
  #measured = 0
  #looks = 0
  #runId = 1

  constructor({ spec, files, ideas, elsewhere = false, bootOf }: SiteOptions) {
    this.#elsewhere = elsewhere
    this.#bootOf = bootOf ?? (() => MACHINE.boot_id)
    this.ledger = new CampaignBuilder(spec)
    this.ideas = ideas
    this.main = this.git.commit(this.git.write({ ...files, [SPEC_PATH]: spec }), [])
    this.optimize = this.main.commit
    const { name } = this.ledger.spec
    this.ledger.add({
      kind: 'campaign-started',
      cause: this.main.commit,
      spec: name,
      spec_path: SPEC_PATH,
      spec_sha256: hashSha256(spec),
      spec_yaml: spec,
      rule_version: '1',
      default_branch: 'refs/heads/main',
      object_format: 'sha1',
      start: this.main,
      harness: this.harness(this.main.tree),
      first_number: 1,
      winnow: '0.1.0',
    })
  }

  get campaign() {
    return this.ledger.campaign
  }

  harness(tree: Oid): string {
    const files = Object.entries(this.git.files(tree)).filter(
      ([path]) => !path.startsWith('src/') && path !== 'README',
    )
    return hashSha256(toCanonicalJson(Object.fromEntries(files)))
  }

  look(): World {
    this.#looks += 1
    this.#settlePulls()
    const { campaign } = this
    const { spec } = specOf(campaign.spec_yaml)
    return {
      now: new Date(Date.UTC(2026, 0, 1) + this.hoursLater * 3_600_000 + this.#looks * 1000).toISOString(),
      entropy: hashSha256(`look ${this.#looks}`),
      campaign,
      spec,
      optimizeTip:
        this.optimize === null ? null : { commit: this.optimize, tree: this.git.treeOf(this.optimize) },
      campaignTip: this.campaignTip,
      defaultTip: this.main,
      pulls: [...this.pulls],
      branches: new Map(this.branches),
      proposals: [...this.#reverting(), ...this.ideas.map(idea => this.#proposal(idea))],
      outsiders: new Map(),
      stacked: new Map(),
      candidates: this.#candidates(spec),
      releases: new Map(),
      sync: this.#sync(),
      foreign: this.#foreign(spec),
      branchMismatch: null,
      holdout: null,
      probes: null,
      reverts: this.#reverts(),
      picks: this.#picks(),
      runs: this.#runFacts(),
      runner: this.#elsewhere
        ? { runId: null, machine: null, external: true }
        : { runId: `run-${this.#runId}`, machine: null, external: false },
      askable: [],
      asking: [],
      asks: 'here',
      answers: [],
      unopened: 0,
      scores: [],
      lost: [],
      setAsideUsd: 0,
      judgeJob: false,
      targetBranch: null,
    }
  }

  /** One look and one plan; `until` cuts it off, as a kill would, before an action. */
  step(until: (action: number) => boolean = () => false): boolean {
    const seen = this.look()
    const { actions, waiting } = planCampaign(seen)
    const changes = actions.length === 0 ? changesOf(seen) : []
    for (const change of changes) this.#change(change)
    if (changes.length > 0) return true
    if (actions.length === 0 && waiting === null) throw new Error('a plan without actions waits for nothing')
    for (const [index, action] of actions.entries()) {
      if (until(index)) return true
      this.#apply(action)
    }
    return actions.length > 0
  }

  /** Every order under way gets its report. */
  measure(): boolean {
    const running = [...this.runs].filter(([, { state }]) => state === 'running')
    for (const [id] of running) {
      const order = this.campaign.orders[id]?.order
      if (!order) this.runs.delete(id)
      else {
        const spec = this.ledger.spec
        const runId = this.campaign.orders[id]?.run_id ?? 'actions:1/1'
        const report = reportOf(
          { order, spec, behaviourOf: side => this.#behaviour(order, side) },
          { run_id: runId, machine: { ...MACHINE, boot_id: this.#bootOf(this.#measured++) } },
        )
        this.runs.set(id, { state: 'reported', runId, report })
      }
    }
    return running.length > 0
  }

  /** The process ends: what it was measuring is gone. */
  kill(started: (order: string) => boolean): void {
    for (const [id, run] of this.runs)
      if (run.state === 'running')
        this.runs.set(id, { ...run, state: 'gone', started: started(id), runId: `run-${this.#runId}` })
    this.#runId += 1
  }

  /** Every run that is under way has come so far. */
  underWay(executions: number): void {
    for (const [id, run] of this.runs) {
      const order = this.campaign.orders[id]?.order
      if (run.state !== 'running' || order === undefined) continue
      const scene = {
        order,
        spec: this.ledger.spec,
        behaviourOf: (side: Side) => this.#behaviour(order, side),
      }
      this.runs.set(id, { state: 'running', partial: cutOff(scene, executions) })
    }
  }

  /** Until nothing can be done any more; answers how many plans it took. */
  run(limit = 500): number {
    for (let looks = 1; looks <= limit; looks++) if (!this.step() && !this.measure()) return looks
    throw new Error('the campaign never comes to rest')
  }

  /** Of an order that was recorded as dispatched and never began, its process can tell that it is gone. */
  #runFacts(): Map<string, RunFacts> {
    const facts = new Map(this.runs)
    for (const [id, { run_id, report }] of Object.entries(this.campaign.orders))
      if (run_id !== null && report === null && !facts.has(id))
        facts.set(id, { state: 'gone', started: false, runId: run_id })
    return facts
  }

  #behaviour(order: { candidates: { label: Side; tree: Oid }[]; base: Point }, side: Side): Behaviour {
    const tree = order.candidates.find(({ label }) => label === side)?.tree ?? order.base.tree
    const text = Object.entries(this.git.files(tree))
      .filter(([path]) => path.startsWith('src/'))
      .map(([, content]) => content)
    const way = (['gate-fails', 'crashes', 'hangs', 'set-up-fails'] as const).find(each =>
      text.includes(each),
    )
    const { name } = this.ledger.spec.metric.primary
    const rotten = this.hoursLater >= 20 && text.includes('rots') ? 90 : 0
    return way ?? { [name]: text.reduce((sum, content) => sum + content.length, rotten) }
  }

  #apply(action: PlanAction): void {
    switch (action.do) {
      case 'commit':
        for (const step of action.steps) this.#take(step, action.steps)
        return
      case 'dispatch':
        if (this.campaign.orders[action.order]) this.runs.set(action.order, { state: 'running' })
        return
      case 'cancel':
        this.runs.delete(action.order)
        return
      case 'delete-branches':
        for (const { name } of action.branches) this.branches.delete(name)
        return
      case 'advance-campaign-branch':
        this.campaignTip = action.to
        return
      case 'propose':
      case 'stop-asking':
      case 'merge':
        throw new Error('nobody can be asked here')
      default:
        action satisfies never
    }
  }

  #take(step: PlanStep, all: readonly PlanStep[]): void {
    const { campaign } = this
    switch (step.step) {
      case 'open':
        if (step.draft.owned && step.draft.head !== null && step.draft.branch !== null)
          this.branches.set(step.draft.branch, step.draft.head)
        break
      case 'keep':
        for (const head of step.heads) this.kept.add(head)
        break
      case 'close':
        this.#results(campaign.experiments[step.experiment])
        break
      case 'move':
        if (this.optimize !== (step.from?.commit ?? null))
          throw new Error('a move from where the branch is not')
        this.optimize = step.to.commit
        break
      case 'land': {
        const { base, candidate, decided } = step
        const results = this.#results(campaign.experiments[decided.experiment])
        const { commit } = this.git.commit(
          candidate.tree,
          [base.commit, results ?? candidate.head],
          'landing',
        )
        return this.#advance(base, commit, landed(step, commit))
      }
      case 'revert': {
        const { commit } = this.git.commit(step.tree, [step.from.commit], 'revert')
        return this.#advance(step.from, commit, reverted(step, commit))
      }
      case 'landed':
      case 'event':
        break
      case 'rebuild-pick':
        this.branches.set(step.branch, step.draft.to)
        break
      default:
        step satisfies never
    }
    this.ledger.add(...eventsOf(campaign, step, all))
  }

  /** Compare and swap: what was planned on another tip must never land. */
  #advance(from: Point, to: Oid, drafts: EventDraft[]): void {
    if (this.optimize !== from.commit) throw new Error('a landing on something else than the incumbent')
    this.optimize = to
    this.ledger.add(...drafts)
  }

  #results(experiment: Experiment | undefined): Oid | null {
    if (!experiment?.owned || experiment.branch === null || experiment.head === null) return null
    if (this.branches.get(experiment.branch) !== experiment.head) return null
    const { commit } = this.git.commit(this.git.treeOf(experiment.head), [experiment.head], 'results')
    this.branches.set(experiment.branch, commit)
    return commit
  }

  #change(change: ForgeChange): void {
    if (change.kind !== 'open') {
      const at = this.pulls.findIndex(pull => pull.number === change.number)
      const pull = this.pulls[at]
      if (pull) this.pulls[at] = withChanges(pull, [change])
      return
    }
    const { branch, base, title, body, draft = false } = change
    if (this.pulls.some(pull => pull.branch === branch && pull.state === 'open'))
      throw new Error(`${branch} has a pull request already`)
    const head = this.branches.get(branch) ?? ''
    const number = this.pulls.length + 1
    this.pulls.push({ number, branch, base, state: 'open', head, title, body, draft, ownComments: [] })
  }

  #edit(number: number, edit: Partial<PullFacts>): void {
    const at = this.pulls.findIndex(pull => pull.number === number)
    const pull = this.pulls[at]
    if (pull) this.pulls[at] = { ...pull, ...edit }
  }

  #settlePulls(): void {
    for (const pull of this.pulls) {
      if (pull.state !== 'open') continue
      const head = this.branches.get(pull.branch)
      const into = pull.base === 'main' ? this.main.commit : this.optimize
      if (head === undefined) this.#edit(pull.number, { state: 'closed' })
      else if (into !== null && this.git.contains(into, head))
        this.#edit(pull.number, { state: 'merged', head })
      else this.#edit(pull.number, { head })
    }
  }

  #proposal(idea: Idea): Proposal {
    const { incumbent } = this.campaign
    const tree = this.git.write({ ...this.git.files(incumbent.tree), ...idea.files })
    const { commit } = this.git.commit(tree, [incumbent.commit], idea.name)
    const { name: hypothesis, category, priority, required_deps = [] } = idea
    return {
      hypothesis,
      category,
      priority,
      required_deps,
      ...(idea.simplifies ? { simplifies: true as const } : {}),
      family: null,
      source: { use: 'patch', key: `patch:${hypothesis}` },
      learnings: null,
      head: { commit, base: incumbent },
      branch: null,
      pull: null,
    }
  }

  #candidates(spec: World['spec']): Map<string, CandidateFacts> {
    const found = new Map<string, CandidateFacts>()
    for (const { id, head, status } of Object.values(this.campaign.experiments))
      if (head !== null && status !== 'ended') found.set(id, this.#candidate(spec, head))
    for (const { id, head, base, status } of Object.values(this.campaign.picks))
      if (head !== null && status !== 'ended')
        found.set(id, this.#candidate(spec, head, { commit: base, tree: this.git.treeOf(base) }))
    return found
  }

  #candidate(spec: World['spec'], head: Oid, incumbent = this.campaign.incumbent): CandidateFacts {
    const { landings } = this.campaign
    const merged = this.git.merge(incumbent.commit, head)
    if (!merged.clean) return { merged: 'conflict', head, base: incumbent.commit, paths: merged.conflicts }
    const { tree } = merged
    const undone = landings.find(
      landing =>
        landing.reverted !== null &&
        this.git.contains(head, landing.head) &&
        !this.git.contains(head, landing.reverted),
    )
    return {
      merged: 'clean',
      head,
      base: incumbent.commit,
      tree,
      changes: this.git.changes(incumbent.tree, tree),
      touched: this.#touched(incumbent.tree, tree),
      suspicious: [],
      refusal: this.#refusal(spec, incumbent.tree, tree),
      additions: NO_ADDITIONS,
      aheadOfSync: false,
      contains: undone?.experiment ?? null,
    }
  }

  #touched(from: Oid, to: Oid) {
    const [before, after] = [this.git.files(from), this.git.files(to)]
    const paths = this.git.changes(from, to).map(({ path }) => path)
    return digestTouchedLines(
      paths.map(path => ({ path, before: before[path] ?? null, after: after[path] ?? null })),
    )
  }

  #refusal(spec: World['spec'], from: Oid, to: Oid) {
    const { isMutable } = compileScope(spec)
    return checkChanges({
      changes: this.git.changes(from, to),
      isMutable,
      limits: spec.limits,
      binaryBytes: new Map(),
      sameNames: new Map(),
    })
  }

  #sync(): SyncFacts | null {
    const { campaign, main } = this
    const tip = main.commit
    if (tip === campaign.default_tip) return null
    const merged = this.git.merge(campaign.incumbent.commit, tip)
    if (!merged.clean) return { result: 'conflict', tip, paths: merged.conflicts }
    const to = this.git.commit(merged.tree, [campaign.incumbent.commit, tip], 'sync')
    const yaml = this.git.files(merged.tree)[SPEC_PATH] ?? ''
    const { spec: brought, sha256: digest } = specOf(yaml)
    const changed = digest !== campaign.default_spec_sha256
    return {
      result: 'clean',
      tip,
      tipTree: main.tree,
      holds: campaign.landings.flatMap(({ commit, experiment }) =>
        this.git.contains(tip, commit) ? [experiment] : [],
      ),
      to,
      spec: { yaml, sha256: digest, changed, parsed: brought },
      harness: this.harness(to.tree),
      unread: this.git.changes(campaign.incumbent.tree, merged.tree).every(({ path }) => path === 'README'),
    }
  }

  #foreign(spec: World['spec']) {
    const { incumbent } = this.campaign
    if (this.optimize === null || this.optimize === incumbent.commit) return null
    const tip = { commit: this.optimize, tree: this.git.treeOf(this.optimize) }
    return { tip, refusal: this.#refusal(spec, incumbent.tree, tip.tree) }
  }

  #reverts(): Map<string, RevertFacts> {
    const { campaign } = this
    const found = new Map<string, RevertFacts>()
    for (const wish of campaign.steered) {
      const landing = campaign.landings.find(
        ({ experiment, reverted: gone }) => experiment === wish.experiment && gone === null,
      )
      if (wish.action !== 'revert' || !landing) continue
      const undone = this.git.commit(landing.base.tree, [landing.commit], 'undone')
      const merged = this.git.merge(campaign.incumbent.commit, undone.commit)
      const result = merged.clean
        ? { tree: merged.tree, measuredIn: campaign.proven[merged.tree] ?? null, head: undone.commit }
        : { conflict: merged.conflicts }
      found.set(wish.event, { landing: landing.experiment, result })
    }
    return found
  }

  #picks(): Map<string, PickFacts> {
    const { campaign, git } = this
    const wishes = campaign.steered.filter(({ action }) => action === 'pick')
    const open = Object.values(campaign.picks).filter(({ closed }) => !closed)
    const wanted = [
      ...wishes.map(({ event, experiment }) => [event, experiment] as const),
      ...open.map(({ id, picks }) => [id, picks] as const),
    ]
    return new Map(
      wanted.flatMap(([by, of]) => {
        const landing = campaign.landings.find(
          ({ experiment, reverted: gone }) => experiment === of && gone === null,
        )
        if (!landing) return []
        const base = { commit: campaign.default_tip, tree: git.treeOf(campaign.default_tip) }
        const before = git.commit(landing.base.tree, [], 'apart').commit
        const apart = (tree: Oid) => git.commit(tree, [before], 'apart').commit
        const merged = git.merge(apart(base.tree), apart(landing.tree))
        const result: PickFacts['result'] = !merged.clean
          ? { conflict: merged.conflicts }
          : merged.tree === base.tree
            ? { present: true }
            : { made: git.commit(merged.tree, [base.commit], `pick ${of}`) }
        return [[by, { landing: of, base, result }] as const]
      }),
    )
  }

  #reverting(): Proposal[] {
    return [...this.#reverts()].flatMap(([wish, { landing, result }]) => {
      if (!('conflict' in result) && result.measuredIn !== null) return []
      const head =
        'conflict' in result
          ? { rejected: 'conflict' }
          : { commit: result.head, base: this.campaign.incumbent }
      const idea = this.#proposal({
        name: `undo ${landing}`,
        files: {},
        category: 'revert',
        priority: 'high',
      })
      return [{ ...idea, source: { use: 'revert', key: `revert:${wish}` }, head, reverts: landing }]
    })
  }
}
