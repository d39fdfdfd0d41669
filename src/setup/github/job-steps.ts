import { MAKE_USERS } from '../../measure/users/side-users.ts'
import { pinned } from './pins.ts'
import type { Campaign } from './workflow-of.ts'

/** What jobs have in common that run code of others, at the indentation of a job's steps. */
export const TRUSTED_SETUP = `      - name: Take the set-up of the tool chain from the default branch
        uses: ${pinned('actions/checkout')}
        with:
          ref: \${{ github.event.repository.default_branch }}
          path: trusted
          persist-credentials: false`

export const SET_UP = `      - name: Set up the tool chain
        uses: ./trusted/.github/actions/winnow-setup`

export function cloneStep(name = 'Clone, without leaving a credential behind', path?: string): string {
  const where = path === undefined ? '' : `\n          path: ${path}`
  return `      - name: ${name}
        uses: ${pinned('actions/checkout')}
        with:${where}
          fetch-depth: 0
          persist-credentials: false`
}

/** What a job that writes could not write for good: its machine is gone with it. */
export function keepStep(id: string): string {
  return `      - name: Keep what could not be written
        if: always() && steps.${id}.outputs.report != ''
        uses: ${pinned('actions/upload-artifact')}
        with:
          name: \${{ steps.${id}.outputs.artifact }}
          path: \${{ steps.${id}.outputs.report }}
          if-no-files-found: error
          retention-days: 30
`
}

/** Between two jobs of one run: whoever takes it needs no right for that. */
export function handStep({
  name,
  when,
  artifact,
  path,
}: Record<'name' | 'when' | 'artifact' | 'path', string>): string {
  return `      - name: ${name}
        if: ${when}
        uses: ${pinned('actions/upload-artifact')}
        with:
          name: ${artifact}
          path: ${path}
          if-no-files-found: error
          retention-days: 7
`
}

interface Fetched {
  name: string
  /** Always, and what is not there is told by who comes after; or where this holds, and then it has to be there. */
  when: string | null
  artifact: string
}

export function fetchStep({ name, when, artifact }: Fetched): string {
  return `      - name: ${name}
        ${when === null ? 'continue-on-error: true' : `if: ${when}`}
        uses: ${pinned('actions/download-artifact')}
        with:
          name: ${artifact}
          path: \${{ runner.temp }}/${artifact}
`
}

const HOSTED = "runner.environment == 'github-hosted' && runner.os == 'Linux'"

/** GitHub's images let everybody write to folders through which everybody's programs are found. */
const CLOSE_FOLDERS = `for folder in /opt /usr/share; do
            if test -e "$folder"; then sudo chmod -R o-w "$folder"; fi
          done`

/**
 * They are in no group and may become nobody. The right to become root stays until the action has taken it up, and
 * is given up by it in the same way as by the other step.
 */
export function makeUsers(when = HOSTED): string {
  return `      - name: Make a user for each side
        if: ${when}
        shell: bash
        run: |
          ${CLOSE_FOLDERS}
          sudo sh -ec '${MAKE_USERS}'`
}

/** As whom it is measured, where only whoever calls the workflow knows: one step or the other. */
export const AS_ASKED_FOR = [
  makeUsers(`inputs.users && ${HOSTED}`),
  giveUpRoot({}, `${HOSTED} && !inputs.users`),
].join('\n')

/**
 * On a hosted runner the job's user may become root, and as root read the memory of the runner itself. What is left
 * of that way is asked for once more, so that a runner where it stays open runs nothing of anybody.
 */
export function giveUpRoot(services: Campaign['execution']['services'] = {}, when = HOSTED): string {
  // Who stops service containers at the end of the job speaks to the same socket.
  const open = Object.keys(services).length === 0 ? '/var/run/docker.sock ' : ''
  return `      - name: Give up the right to become root
        if: ${when}
        shell: bash
        run: |
          ${CLOSE_FOLDERS}
          for socket in ${open}/run/containerd/containerd.sock /var/snap/lxd/common/lxd/unix.socket; do
            if sudo test -e "$socket"; then sudo chmod 600 "$socket"; fi
          done
          echo "$(id -un) ALL=(ALL:ALL) !ALL" | sudo tee /etc/sudoers.d/zz-winnow > /dev/null
          if sudo -n true 2> /dev/null; then echo 'sudo could not be given up'; exit 1; fi`
}
