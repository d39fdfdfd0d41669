import { UserError } from '../../errors.ts'
import { hashSha256 } from '../../model/canonical-json.ts'
import type { Spec } from '../../spec/schema.ts'
import { MOST_MINUTES, renderJobs, renderTriggerCondition } from './jobs.ts'
import {
  type GithubSetup,
  hasCountedMetrics,
  hasProgramProposers,
  listPrefixes,
  MODEL_ENVIRONMENT,
  MODEL_SECRET,
  quoteYaml,
  renderPermissions,
} from './setup.ts'
import {
  CLONE,
  CLONE_DIRECTORY,
  INSTALL_COUNTER,
  MAKE_SIDE_USERS,
  OWN_ACTION,
  referToAction,
  renderSaveUnwritten,
  SET_UP_AGENTS,
  SET_UP_TOOLS,
} from './steps.ts'

export function renderWorkflow(setup: GithubSetup): string {
  return `${renderHeader(setup)}
name: winnow
run-name: >-
  ${RUN_NAME}
${renderTriggers(setup, { ignored: IGNORED_BRANCHES, reviews: true })}

permissions: {}

jobs:
${renderJobs(setup)}
`
}

/** The file belongs to the repository's owner. In winnow's own repository `npm run docs` generates it. */
function renderHeader({ action }: Pick<GithubSetup, 'action'>): string {
  const origin =
    action === OWN_ACTION
      ? '# Written by `npm run docs` from src/init/workflows.'
      : '# Written by `winnow init --github`. Change it as you like; delete it to stop winnow.'
  return `${origin}\n# Each job, its rights and their reasons: docs/github.md of winnow.`
}

/** The run that dispatches another one names it. Other runs are named after their event. */
const RUN_NAME = [
  "${{ inputs.title || github.event.schedule && 'scheduled check' ||",
  "github.event.comment && format('comment on #{0}', github.event.issue.number) ||",
  "github.event.review && format('review of #{0}', github.event.pull_request.number) ||",
  "github.event.pull_request && format('pull request #{0} {1}', github.event.pull_request.number,",
  "github.event.action == 'synchronize' && 'updated' || github.event.action) || 'started by hand' }}",
].join('\n  ')

/** Accepted findings of zizmor about the triggers, with the reason. */
const IGNORED_BRANCHES =
  'ignore[dangerous-triggers,concurrency-limits] no job that writes checks out a pull request; measurements need not wait'

function renderTriggers(
  setup: Pick<GithubSetup, 'specs'>,
  { ignored, reviews }: { ignored: string; reviews: boolean },
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

// Single-job mode

/** Accepted findings of zizmor about the triggers, with the reason. */
const SINGLE_JOB_IGNORED =
  'ignore[dangerous-triggers] what a pull request brings runs as a user that can read no token'

/**
 * Renders all of winnow as one job, which measures on the machine that holds the token. Each run handles all
 * events so far, so GitHub keeps only the last of the waiting runs.
 */
export function renderSingleJobWorkflow(setup: GithubSetup): string {
  const { action } = setup
  const programs = hasProgramProposers(setup)
  // The run of a review is at the merge of its pull request, where a rule of the environment refuses the job.
  const reviews = !programs
  const steps = [
    CLONE,
    SET_UP_TOOLS,
    ...(programs ? [SET_UP_AGENTS] : []),
    ...(hasCountedMetrics(setup.specs) ? [INSTALL_COUNTER] : []),
    MAKE_SIDE_USERS,
  ]
  return `${renderHeader(setup)}
name: winnow
run-name: >-
  ${RUN_NAME}
${renderTriggers(setup, { ignored: SINGLE_JOB_IGNORED, reviews })}

permissions: {}

jobs:
  # Decides, writes and measures. Root holds the token; the code of experiments runs as users of its own.
  run:
    name: decide and measure
${renderTriggerCondition(setup, { reviews })}
    runs-on: ubuntu-24.04
    timeout-minutes: ${MOST_MINUTES}
    concurrency:
      group: winnow
      cancel-in-progress: false
${programs ? `    environment: ${MODEL_ENVIRONMENT}\n` : ''}${renderPermissions('run')}
    steps:
${steps.join('\n')}
      - name: Observe, decide, act, measure
        id: run
        uses: ${referToAction(action, CLONE_DIRECTORY)}
        with:
          command: run
          directory: ${CLONE_DIRECTORY}
          github-token: \${{ github.token }}
${programs ? MODEL_KEY_LINES : ''}${renderSaveUnwritten('run')}
`
}

const MODEL_KEY_LINES = `        env:
          ${MODEL_SECRET}: \${{ secrets.${MODEL_SECRET} }}
`

// Schedule

const FIELD = /^(?:\*|\d{1,2}(?:-\d{1,2})?(?:,\d{1,2}(?:-\d{1,2})?)*)(?:\/\d{1,2})?$/

/**
 * Scheduled runs continue campaigns without other events. The minute is odd and depends on the name, because
 * GitHub delays or drops many schedules on the full hour.
 */
export function buildCron({ name, schedule }: Pick<Spec, 'name' | 'schedule'>): string {
  const hash = Number.parseInt(hashSha256(name).slice(0, 8), 16)
  const minute = 2 * (hash % 30) + 1
  const hour = Math.floor(hash / 30) % 24
  const day = Math.floor(hash / 720) % 7
  if (schedule === 'hourly') return `${minute} * * * *`
  if (schedule === 'daily') return `${minute} ${hour} * * *`
  if (schedule === 'weekly') return `${minute} ${hour} * * ${day}`
  const fields = schedule.trim().split(/\s+/)
  if (fields.length === 5 && fields.every(field => FIELD.test(field))) return fields.join(' ')
  throw new UserError(`the schedule of ${name} is ${JSON.stringify(schedule)}`, {
    place: { path: 'schedule' },
    fix: 'give hourly, daily, weekly or five fields as in cron, for example "17 3 * * *"',
  })
}
