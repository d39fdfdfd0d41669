import { UserError } from '../../errors.ts'
import { SET_UP, TRUSTED_SETUP, cloneStep, giveUpRoot, handStep, makeUsers } from './job-steps.ts'
import { permissionLines } from './permissions.ts'
import { callOf } from './reusable.ts'
import { type Campaign, type GithubSetup, headOf, plainExecution, yamlText } from './workflow-of.ts'

/** Below what GitHub allows a job; an order has a deadline of its own. */
const MOST_MINUTES = 350

/** What is on the default branch is restored by everybody from caches: nothing of an experiment runs there. */
export const NOT_ON_DEFAULT = 'github.ref_name != github.event.repository.default_branch'

/** What says which order is to be measured, and all that does. */
export const ORDER_INPUTS = `    inputs:
      campaign:
        description: Whose order it is.
        required: true
        type: string
      order:
        description: The id of the order.
        required: true
        type: string`

/** The one workflow that runs code of experiments. It may write nothing, and nothing it leaves is trusted. */
export function measureWorkflow(setup: GithubSetup): string {
  return `${headOf(setup)}
# One run measures one order. winnow.yml starts it, on the campaign's own branch: a cache that is left there is
# restored by nobody else. Which order, is all that its inputs say; what is measured stands in the ledger.
name: winnow-measure
run-name: \${{ inputs.order }}
on:
  workflow_dispatch:
${ORDER_INPUTS}

permissions: {}

jobs:
${setup.specs.map(spec => jobOf(setup, spec)).join('\n')}`
}

function jobOf({ action, calls = false }: GithubSetup, campaign: Campaign): string {
  const { name } = campaign
  const { runs_on, services } = plainExecution(campaign)
  const head = `  measure-${name}:
    if: inputs.campaign == ${yamlText(name)} && ${NOT_ON_DEFAULT}
`
  if (!calls) {
    const runner = JSON.stringify(runs_on)
    const rights = wantsUsers(campaign) ? makeUsers() : giveUpRoot(services)
    return `${head}${measuringJob({ action, campaign: name, runner, services, rights })}`
  }
  if (Object.keys(services).length > 0) {
    throw new UserError(
      `execution.services of ${name}: a workflow that is called takes no service containers`,
      {
        place: { path: 'execution.services' },
        fix: 'leave --reusable out: the jobs are written out then, with their services',
      },
    )
  }
  return `${head}${permissionLines('measure')}
    uses: ${callOf(action, 'measure')}
    with:
      campaign: ${yamlText(name)}
      order: \${{ inputs.order }}
      runs-on: ${yamlText(JSON.stringify(runs_on))}
      users: ${wantsUsers(campaign)}
`
}

function wantsUsers({ measurement: { isolation } }: Campaign): boolean {
  return isolation === 'uid' || isolation === 'auto'
}

interface Measuring {
  action: string
  campaign: string
  /** As it stands after `runs-on:`. */
  runner: string
  services: Campaign['execution']['services']
  /** The step after which it is settled who may become root. */
  rights: string
}

/** A job that measures an order, from its condition on. */
export function measuringJob({ action, campaign, runner, services, rights }: Measuring): string {
  return `    runs-on: ${runner}
    timeout-minutes: ${MOST_MINUTES}
${permissionLines('measure')}
${servicesLine(services)}    steps:
${TRUSTED_SETUP}
${cloneStep('Clone everything that an order can name', 'repository')}
${SET_UP}
${rights}
      - name: Measure the order
        id: measure
        uses: ${action}
        with:
          command: measure
          campaign: ${campaign}
          order: \${{ inputs.order }}
          directory: repository
${handStep({ name: 'Hand the report over', when: "steps.measure.outputs.report != ''", artifact: '${{ steps.measure.outputs.artifact }}', path: '${{ steps.measure.outputs.report }}' })}`
}

/** JSON is YAML. */
function servicesLine(of: Campaign['execution']['services']): string {
  return Object.keys(of).length === 0 ? '' : `    services: ${JSON.stringify(of)}\n`
}
