import { AS_ASKED_FOR } from './job-steps.ts'
import { measuringJob, NOT_ON_DEFAULT, ORDER_INPUTS } from './measure-workflow.ts'
import { OWN_ACTION } from './reusable.ts'
import { tickingJob } from './ticking-job.ts'
import { headOf, NOT_PAUSED } from './workflow-of.ts'

const OWN = { action: OWN_ACTION, specs: [] }

const HEAD = `${headOf(OWN)}
# Called by the workflows of other repositories at a commit (winnow init --github --reusable): triggers, run-name and
# inputs are the caller's, its token's rights are the most there can be, and no group of concurrency may be in both.`

/** What carries campaigns on, to be called. Everything but the action is the caller's: clone, token, variables. */
export function reusableTick(): string {
  return `${HEAD}
name: winnow, to be called (tick)
on:
  workflow_call:
    inputs:
      may-ask:
        description: Whether a job of the caller asks programs for ideas after this one.
        required: false
        type: boolean
        default: false
      may-judge:
        description: Whether a job of the caller asks models for scores after this one.
        required: false
        type: boolean
        default: false
    outputs:
      propose:
        description: The campaign whose proposers are to be asked now; empty where none are.
        value: \${{ jobs.tick.outputs.propose }}
      judge:
        description: The campaign of which models are to be asked for scores now; empty where none are.
        value: \${{ jobs.tick.outputs.judge }}

permissions: {}

jobs:
  tick:
    if: ${NOT_PAUSED}
${tickingJob(OWN, { rights: 'tick', step: 'Observe, decide, act', mayAsk: '${{ inputs.may-ask }}', mayJudge: '${{ inputs.may-judge }}' })}`
}

/** What measures an order, to be called by a workflow that is dispatched with the order as its run-name. */
export function reusableMeasure(): string {
  const job = measuringJob({
    action: OWN_ACTION,
    campaign: '${{ inputs.campaign }}',
    runner: '${{ fromJSON(inputs.runs-on) }}',
    services: {},
    rights: AS_ASKED_FOR,
  })
  return `${HEAD}
name: winnow, to be called (measure)
on:
  workflow_call:
${ORDER_INPUTS}
      runs-on:
        description: The runner, a label or several, as JSON. A plain value of the calling file.
        required: true
        type: string
      users:
        description: Whether sides get users of their own, as measurement.isolation of the spec has it.
        required: true
        type: boolean

permissions: {}

jobs:
  measure:
    if: github.event_name == 'workflow_dispatch' && ${NOT_ON_DEFAULT}
${job}`
}
