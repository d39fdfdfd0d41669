import { OWN_ACTION } from './action-reference.ts'
import { type GithubSetup, listPrefixes, quoteYaml } from './github-setup.ts'
import { renderJobs } from './winnow-jobs.ts'
import { buildCron } from './schedule.ts'

/** One file: what starts a run, what it is called, and the jobs that share the work. */
export function renderWorkflow(setup: GithubSetup): string {
  return `${renderHeader(setup)}
name: winnow
run-name: >-
  ${RUN_NAME}
${renderTriggers(setup)}

permissions: {}

jobs:
${renderJobs(setup)}
`
}

/** The file is its owner's; in winnow's own repository it is written with everything that is generated. */
export function renderHeader({ action }: Pick<GithubSetup, 'action'>): string {
  const origin =
    action === OWN_ACTION
      ? '# Written by `npm run docs` from src/setup/github.'
      : '# Written by `winnow init --github`. Change it as you like; delete it to stop winnow.'
  return `${origin}\n# Each job, its rights and their reasons: docs/github.md of winnow.`
}

/** A dispatched run is titled by who starts it; any other says which event it follows. */
export const RUN_NAME = [
  "${{ inputs.title || github.event.schedule && 'scheduled check' ||",
  "github.event.comment && format('comment on #{0}', github.event.issue.number) ||",
  "github.event.review && format('review of #{0}', github.event.pull_request.number) ||",
  "github.event.pull_request && format('pull request #{0} {1}', github.event.pull_request.number,",
  "github.event.action == 'synchronize' && 'updated' || github.event.action) || 'started by hand' }}",
].join('\n  ')

/** Audits of zizmor that find something in the triggers, and why that is accepted. */
const IGNORED_BRANCHES =
  'ignore[dangerous-triggers,concurrency-limits] no job that writes checks out a pull request; measurements need not wait'

export function renderTriggers(
  setup: Pick<GithubSetup, 'specs'>,
  { ignored, reviews }: { ignored: string; reviews: boolean } = { ignored: IGNORED_BRANCHES, reviews: true },
): string {
  const crons = [...new Set(setup.specs.map(buildCron))]
  const branches = listPrefixes(setup).map(prefix => quoteYaml(`${prefix}/**`))
  return `on: # zizmor: ${ignored}
  schedule:
${crons.map(cron => `    - cron: ${quoteYaml(cron)}`).join('\n')}
  workflow_dispatch:
    inputs:
      title:
        description: A name for the run.
        required: false
        type: string
  pull_request_target:
    branches: [${branches.join(', ')}]
    types: [opened, synchronize, reopened, closed]${reviews ? REVIEWS : ''}
  issue_comment:
    types: [created]`
}

const REVIEWS = `
  pull_request_review:
    types: [submitted, dismissed]`
