import { formatCount } from '../decide/wording.ts'
import type { Spec } from '../spec/schema.ts'
import { type ComparedMetric, renderComparedMetrics } from './check-compared.ts'
import { describeCampaignTime } from './check-forecast.ts'
import { type HarnessTrial, renderTrial } from './check-trial.ts'

/** What `winnow check` found; printed as it is with --json. */
export interface CheckView {
  file: string
  campaign: string
  rules: Spec['rules']
  /** Where the checked text was read: a work tree's is not in force before it is committed. */
  source: 'work tree' | 'default branch'
  scope: {
    mutable: number
    outside: number
    unmatched: string[]
    /** The first few of each. */
    examples: { mutable: string[]; outside: string[] }
  }
  notes: string[]
  /** Valid, but not built yet: a run refuses it. */
  unsupported: string[]
  /** Places in the harness that are still to be filled in: a run refuses it. */
  unfinished: string[]
  warnings: string[]
  ideas: string[]
  /** The dependency policy in one line. */
  dependencies: string
  /** What a run would do. */
  forecast: string[]
  /** Those that can change a verdict, and how they are compared. */
  metrics: ComparedMetric[]
  /** null with --no-try, and where a run would refuse. */
  tried: HarnessTrial | null
}

/** What is said before anything runs. */
export function renderCheck(view: CheckView): string[] {
  const { file, campaign, scope, rules } = view
  return [
    `${file} is valid: campaign ${campaign}, ${rules} defaults, read from the ${view.source}.`,
    `  scope: ${formatCount(scope.mutable, 'file')} may change${formatExamples(scope.mutable, scope.examples.mutable)}, ${scope.outside} may not${formatExamples(scope.outside, scope.examples.outside)}`,
    ...scope.unmatched.map(pattern => `  scope.mutable ${pattern} matches no file`),
    ...view.ideas.map(idea => `  ideas: ${idea}`),
    `  dependencies: ${view.dependencies}`,
    ...view.forecast.map(line => `  ${line}`),
    ...view.notes.map(note => `  note: ${note}`),
    ...view.warnings.map(warning => `  warning: ${warning}`),
    ...view.unsupported.map(sentence => `  not possible yet: ${sentence}`),
    ...view.unfinished.map(sentence => `  to do: ${sentence}`),
    ...renderBlockers(view),
  ]
}

function formatExamples(count: number, examples: readonly string[]): string {
  if (examples.length === 0) return ''
  return ` (${examples.join(', ')}${count > examples.length ? ', …' : ''})`
}

const NOT_TRIED =
  'Nothing was run: without --no-try, set-up, gates and harness are tried on the default branch, and noise, time and the smallest visible gain are said.'

/** How ideas will be compared, and what trying the harness showed of it. */
export function renderCheckComparison(spec: Spec, { metrics, tried }: CheckView): string[] {
  const compared = renderComparedMetrics(spec, metrics)
  if (tried === null) return [...compared.map(line => `  ${line}`), NOT_TRIED]
  const isTold = tried.prospects !== null || tried.judging !== undefined
  const time = isTold ? [] : [describeCampaignTime(spec, tried.seconds)]
  return [...compared, ...renderTrial(tried), ...time].map(line => `  ${line}`)
}

/** Whether `winnow run` would refuse. */
export function isBlocked({ scope, unsupported, unfinished }: CheckView): boolean {
  return unsupported.length > 0 || unfinished.length > 0 || scope.mutable === 0
}

function renderBlockers(view: CheckView): string[] {
  if (!isBlocked(view)) return []
  const nothing = view.scope.mutable === 0 ? 'no committed file may change' : null
  const missing = view.unsupported.length > 0 ? 'it asks for what is not built yet' : null
  const todo = view.unfinished.length > 0 ? 'its harness measures a stand-in' : null
  const why = [nothing, missing, todo].filter(reason => reason !== null)
  return [`This spec cannot be run: ${why.join(', and ')}.`]
}

/** Where ideas come from, in the order in which the spec lists them; `patches`: the hypotheses in each folder. */
export function describeIdeaSources(
  spec: Spec,
  patches: ReadonlyMap<string, readonly string[]> = new Map(),
): string[] {
  const { branches, name } = spec
  return spec.propose.map(proposer => {
    switch (proposer.use) {
      case 'external':
        return `winnow propose, branches below ${branches.prefix}-exp/${name}/, pull requests against ${branches.prefix}/${name}`
      case 'patch':
        return `the patches in ${proposer.dir} of the default branch${describePatches(patches.get(proposer.dir))}`
      case 'command':
        return `the program ${proposer.command ?? proposer.preset ?? ''}`
      case 'sweep':
      case 'textgrad':
      case 'dispatch':
        return proposer.use
      default:
        return proposer satisfies never
    }
  })
}

const SHOWN_IDEAS = 4

function describePatches(hypotheses: readonly string[] | undefined): string {
  if (hypotheses === undefined) return ''
  if (hypotheses.length === 0) return ': none yet'
  const shown = hypotheses.slice(0, SHOWN_IDEAS).join('; ')
  const more = hypotheses.length > SHOWN_IDEAS ? '; …' : ''
  return `: ${formatCount(hypotheses.length, 'idea')} (${shown}${more})`
}
