import { CLONE_DIRECTORY, referToAction } from './action-reference.ts'
import { hasProgramProposers, type GithubSetup } from './github-setup.ts'
import { CLONE, renderSaveUnwritten, MAKE_SIDE_USERS, SET_UP_AGENTS, SET_UP_TOOLS } from './job-steps.ts'
import { MODEL_ENVIRONMENT, MODEL_SECRET, renderPermissions } from './permissions.ts'
import { renderTriggerCondition } from './winnow-jobs.ts'
import { renderHeader, renderTriggers, RUN_NAME } from './winnow-workflow.ts'

/** Below the 360 minutes that GitHub allows a job. */
const MOST_MINUTES = 350

/** What zizmor says of the triggers, and why that is accepted. */
const SINGLE_JOB_IGNORED =
  'ignore[dangerous-triggers] what a pull request brings runs as a user that can read no token'

/**
 * The whole of winnow in one job, which measures beside the token that it holds. A run looks at everything there is, so
 * of those that wait only the last is kept.
 */
export function renderSingleJobWorkflow(setup: GithubSetup): string {
  const { action } = setup
  const programs = hasProgramProposers(setup)
  // The run of a review is at the merge of its pull request, where a rule of the environment refuses the job.
  const reviews = !programs
  const steps = [CLONE, SET_UP_TOOLS, ...(programs ? [SET_UP_AGENTS] : []), MAKE_SIDE_USERS]
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
