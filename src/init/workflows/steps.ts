import { MAKE_USERS } from '../../measure/isolation/side-users.ts'

/** The repository's own action: action.yml at the top of its default branch. */
export const OWN_ACTION = './'

/** Directory of the clone in jobs that run third-party code. */
export const CLONE_DIRECTORY = 'repository'

/**
 * `$/` with a path would mean the commit of the workflow file, which a measuring run takes from the
 * campaign's branch.
 */
const FROM_CLONE = '# zizmor: ignore[self-repository] always the default branch'

/** `directory` is the clone of the default branch, or empty for the workspace. */
export function referToAction(action: string, directory: '' | typeof CLONE_DIRECTORY): string {
  return action === OWN_ACTION ? `./${directory} ${FROM_CLONE}` : action
}

const WINNOW_STEP =
  /^ +uses: (?<action>\S+(?: # [\w.-]+)?)(?: # zizmor:.*)?\n +with:\n +command: (?<command>tick|run)$/m

interface WrittenWorkflow {
  action: string
  singleJob: boolean
  attests: boolean
}

/** Reads the action and the mode from a workflow that winnow wrote. Null: another file. */
export function readWrittenWorkflow(text: string): WrittenWorkflow | null {
  const { action, command } = WINNOW_STEP.exec(text)?.groups ?? {}
  if (action === undefined) return null
  return {
    action: action.startsWith('./') ? OWN_ACTION : action,
    singleJob: command === 'run',
    attests: /^ {2}attest:$/m.test(text),
  }
}

/** Third-party actions, pinned to the commit of a version, because tags can be moved. */
export const PINNED = {
  'actions/checkout': ['de0fac2e4500dabe0009e67214ff5f5447ce83dd', 'v6.0.2'],
  'actions/upload-artifact': ['b7c566a772e6b6bfb58ed0dc250532a479d7789f', 'v6.0.0'],
  'actions/download-artifact': ['37930b1c2abaa49bbe596cd826c3c89aef350131', 'v7.0.0'],
  'actions/attest-build-provenance': ['a2bbfa25375fe432b6a289bc6b6cd05ecd0c4c32', 'v4.1.0'],
  'actions/setup-node': ['6044e13b5dc448c55e2357c09f80417699197238', 'v6.2.0'],
  'actions/setup-python': ['a309ff8b426b58ec0e2a45f0f869d46889d02405', 'v6.2.0'],
  'actions/setup-go': ['7a3fe6cf4cb3a834922a1244abfce67bcef6a0c5', 'v6.2.0'],
  'actions/setup-java': ['be666c2fcd27ec809703dec50e508c2fdc7f6654', 'v5.2.0'],
} as const
export type PinnedAction = keyof typeof PINNED

export function formatPinnedAction(action: PinnedAction): string {
  const [commit, version] = PINNED[action]
  return `${action}@${commit} # ${version}`
}

/** Steps of a job: indented for `steps:`, without a final line break. */

/** For jobs that run winnow alone. On a schedule `ref` is empty, and checkout takes the default branch. */
export const CHECK_OUT = `      - name: Clone the default branch with all history
        uses: ${formatPinnedAction('actions/checkout')}
        with:
          ref: \${{ github.event.repository.default_branch }}
          fetch-depth: 0
          persist-credentials: false`

/**
 * For jobs that run third-party code. actions/checkout has a post step, which would run after that code, from
 * files that it may have changed. The token is only in the environment of these two commands and in no file.
 */
export const CLONE = `      - name: Clone the default branch with all history
        shell: bash
        env:
          GITHUB_TOKEN: \${{ github.token }}
          GIT_LFS_SKIP_SMUDGE: '1'
        run: |
          url="$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"
          login="$(printf 'x-access-token:%s' "$GITHUB_TOKEN" | base64 | tr -d '\\n')"
          export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="http.$url.extraheader" GIT_CONFIG_VALUE_0="Authorization: Basic $login"
          rm -rf ${CLONE_DIRECTORY}
          git clone --quiet "$url" ${CLONE_DIRECTORY}`

export const SET_UP_TOOLS = `      - name: Set up the tool chain
        uses: ./${CLONE_DIRECTORY}/.github/actions/winnow-setup ${FROM_CLONE}`

export const SET_UP_AGENTS = `      - name: Set up the programs that propose ideas
        uses: ./${CLONE_DIRECTORY}/.github/actions/winnow-agents ${FROM_CLONE}`

/** The remote may refuse every push of the ledger, and the machine is deleted after the job. */
export function renderSaveUnwritten(id: string): string {
  return `      - name: Upload what could not be pushed
        if: always() && steps.${id}.outputs.report != ''
        uses: ${formatPinnedAction('actions/upload-artifact')}
        with:
          name: \${{ steps.${id}.outputs.artifact }}
          path: \${{ steps.${id}.outputs.report }}
          if-no-files-found: error
          retention-days: 30`
}

interface Upload {
  name: string
  /** Other steps read `steps.<id>.outputs.artifact-digest`. */
  id?: string
  when: string
  artifact: string
  path: string
}

export function renderUpload({ name, id, when, artifact, path }: Upload): string {
  return `      - name: ${name}${id === undefined ? '' : `\n        id: ${id}`}
        if: ${when}
        uses: ${formatPinnedAction('actions/upload-artifact')}
        with:
          name: ${artifact}
          path: ${path}
          if-no-files-found: error
          retention-days: 7`
}

/** Ignores a missing artifact: the step that reads the file reports it. */
export function renderDownload(name: string, artifact: string): string {
  return `      - name: ${name}
        continue-on-error: true
        uses: ${formatPinnedAction('actions/download-artifact')}
        with:
          name: ${artifact}
          path: \${{ runner.temp }}/${artifact}`
}

const HOSTED_LINUX = "runner.environment == 'github-hosted' && runner.os == 'Linux'"

/** On GitHub's images every user can write to some folders of PATH. */
const CLOSE_FOLDERS = `for folder in /opt /usr/share; do
            if test -e "$folder"; then sudo chmod -R o-w "$folder"; fi
          done`

/** The action uses sudo after this step and drops it itself. */
export const MAKE_SIDE_USERS = `      - name: Create a user for each side
        if: ${HOSTED_LINUX}
        shell: bash
        run: |
          ${CLOSE_FOLDERS}
          sudo sh -ec '${MAKE_USERS}'`

/** Machines of your own have it, or not: they are not winnow's to change. */
export const INSTALL_COUNTER = `      - name: Install valgrind, which counts what a command does
        if: ${HOSTED_LINUX}
        shell: bash
        run: sudo apt-get update --quiet && sudo apt-get install --yes --quiet valgrind`

/**
 * The user of a hosted runner may become root, and root can read the memory of the runner. The last line
 * tries sudo again, so that the job fails before it runs third-party code if sudo still works.
 */
export const DROP_ROOT = `      - name: Drop root
        if: ${HOSTED_LINUX}
        shell: bash
        run: |
          ${CLOSE_FOLDERS}
          for socket in /var/run/docker.sock /run/containerd/containerd.sock /var/snap/lxd/common/lxd/unix.socket; do
            if sudo test -e "$socket"; then sudo chmod 600 "$socket"; fi
          done
          echo "$(id -un) ALL=(ALL:ALL) !ALL" | sudo tee /etc/sudoers.d/zz-winnow > /dev/null
          if sudo -n true 2> /dev/null; then echo 'sudo could not be given up'; exit 1; fi`
