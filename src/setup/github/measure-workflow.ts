import { permissionLines } from './permissions.ts'
import { pinned } from './pins.ts'
import { type Campaign, type GithubSetup, HEAD, plainExecution, yamlText } from './workflow-of.ts'

/** Below what GitHub allows a job; an order has a deadline of its own. */
const MOST_MINUTES = 350

/** The one workflow that runs code of experiments. It may write nothing, and nothing it leaves is trusted. */
export function measureWorkflow({ action, specs }: GithubSetup): string {
  return `${HEAD}
# One run measures one order. winnow.yml starts it, on the campaign's own branch: a cache that is left there is
# restored by nobody else. Which order, is all that its inputs say; what is measured stands in the ledger.
name: winnow-measure
run-name: \${{ inputs.order }}
on:
  workflow_dispatch:
    inputs:
      campaign:
        description: Whose order it is.
        required: true
        type: string
      order:
        description: The id of the order.
        required: true
        type: string
      pulls:
        description: Numbers of pull requests from forks whose heads it measures, with spaces between them.
        required: false
        type: string

permissions: {}

jobs:
${specs.map(spec => measureJob(action, spec)).join('\n')}`
}

function measureJob(action: string, campaign: Campaign): string {
  const { name } = campaign
  const execution = plainExecution(campaign)
  return `  measure-${name}:
    if: inputs.campaign == ${yamlText(name)} && github.ref_name != github.event.repository.default_branch
    runs-on: ${JSON.stringify(execution.runs_on)}
    timeout-minutes: ${MOST_MINUTES}
${permissionLines('measure')}
${services(execution.services)}    steps:
      - name: Take the set-up of the tool chain from the default branch
        uses: ${pinned('actions/checkout')}
        with:
          ref: \${{ github.event.repository.default_branch }}
          path: trusted
          persist-credentials: false
      - name: Clone everything that an order can name
        uses: ${pinned('actions/checkout')}
        with:
          path: repository
          fetch-depth: 0
          persist-credentials: false
      - name: Fetch the heads of pull requests from forks
        if: inputs.pulls != ''
        shell: bash
        env:
          PULLS: \${{ inputs.pulls }}
          TOKEN: \${{ github.token }} # reads the repository; gone before any code of an experiment runs
        run: |
          [[ "$PULLS" =~ ^[0-9]+(\\ [0-9]+)*$ ]] || { echo 'pulls are numbers with spaces between them'; exit 2; }
          export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="http.$GITHUB_SERVER_URL/.extraheader"
          GIT_CONFIG_VALUE_0="AUTHORIZATION: basic $(printf 'x-access-token:%s' "$TOKEN" | base64 --wrap=0)"
          export GIT_CONFIG_VALUE_0
          for pull in $PULLS; do
            git -C repository fetch --no-tags origin "+refs/pull/$pull/head:refs/remotes/pull/$pull"
          done
      - name: Set up the tool chain
        uses: ./trusted/.github/actions/winnow-setup
${giveUpRoot(execution.services)}
      - name: Measure the order
        id: measure
        uses: ${action}
        with:
          command: measure
          campaign: ${name}
          order: \${{ inputs.order }}
          directory: repository
      - name: Hand the report over
        if: steps.measure.outputs.report != ''
        uses: ${pinned('actions/upload-artifact')}
        with:
          name: \${{ steps.measure.outputs.artifact }}
          path: \${{ steps.measure.outputs.report }}
          if-no-files-found: error
          retention-days: 7
`
}

/**
 * On a hosted runner the job's user may become root, and as root read the memory of the runner itself. What is left
 * of that way is asked for once more, so that a runner where it stays open measures nothing.
 */
function giveUpRoot(services: Campaign['execution']['services']): string {
  // Who stops service containers at the end of the job speaks to the same socket.
  const open = Object.keys(services).length === 0 ? '/var/run/docker.sock ' : ''
  return `      - name: Give up the right to become root
        if: runner.environment == 'github-hosted' && runner.os == 'Linux'
        shell: bash
        run: |
          for socket in ${open}/run/containerd/containerd.sock /var/snap/lxd/common/lxd/unix.socket; do
            if sudo test -e "$socket"; then sudo chmod 600 "$socket"; fi
          done
          echo "$(id -un) ALL=(ALL:ALL) !ALL" | sudo tee /etc/sudoers.d/zz-winnow > /dev/null
          if sudo -n true 2> /dev/null; then echo 'sudo could not be given up'; exit 1; fi`
}

/** JSON is YAML. */
function services(of: Campaign['execution']['services']): string {
  return Object.keys(of).length === 0 ? '' : `    services: ${JSON.stringify(of)}\n`
}
