import type { Preset } from '../../ideas/proposers.ts'
import type { DetectedProject } from '../detect.ts'
import type { Language, ProjectLocation } from '../project.ts'
import type { GithubSetup } from './setup.ts'
import { CLONE_DIRECTORY, formatPinnedAction, type PinnedAction } from './steps.ts'

/**
 * Sets up what a measuring job needs. GitHub takes it from the default branch, never from an experiment. It
 * restores no cache: a measuring job of the same branch could have saved it, and side users cannot read it.
 */
export function renderSetupAction({ steps }: Toolchain): string {
  return `# Written once by \`winnow init --github\` from what it found, and yours from now on: winnow does not change it again.
# It is read from the default branch; the repository to be measured lies in ./repository.
name: winnow-setup
description: Sets up the tool chain for measurements.
runs:
  using: composite
  steps:
${steps.join('\n')}
`
}

// Agents

/** Install commands from the documentation of each agent. People add a version to the name. */
const INSTALLED_BY = {
  claude: 'npm install --global @anthropic-ai/claude-code',
  codex: 'npm install --global @openai/codex',
  gemini: 'npm install --global @google/gemini-cli',
  copilot: 'npm install --global @github/copilot',
  opencode: 'npm install --global opencode-ai',
  aider: 'pipx install aider-chat',
} as const satisfies Record<Preset, string>

const NEWEST = ' # zizmor: ignore[adhoc-packages] the newest version, unless you name one'

/** Separate from the tool chain: jobs that measure have no agent. */
export function renderAgentsAction({ specs }: Pick<GithubSetup, 'specs'>): string {
  const presets = specs.flatMap(({ propose }) =>
    propose.flatMap(one =>
      one.use === 'command' && one.command === undefined && one.preset !== undefined ? [one.preset] : [],
    ),
  )
  const steps = [...new Set(presets)].map(preset =>
    renderStep(`Install ${preset}`, `${INSTALLED_BY[preset]}${NEWEST}`),
  )
  return `# Written once by \`winnow init --github\` from the specs, and yours from now on: winnow does not change it again.
# It is read from the default branch, by the job that asks for ideas and by no other. Name the version of an agent after
# an @ to have that one; a command of a spec that needs more than the tool chain has is installed here too.
name: winnow-agents
description: Sets up the programs that are asked for ideas.
runs:
  using: composite
  steps:
${(steps.length === 0 ? [renderStep('Commands of the spec need nothing more so far', "'true'")] : steps).join('\n')}
`
}

function renderStep(name: string, run: string): string {
  return `    - name: ${name}\n      shell: bash\n      run: ${run}`
}

// Tool chain

/** Steps that install what the image of a runner lacks, or has in another version. */
export interface Toolchain {
  steps: string[]
}

type ToolchainSteps = { uses?: string; run?: string }
type ToolchainContext = { at: (...names: string[]) => string | null; manager: string | null }

const BY_LANGUAGE: Readonly<Record<Language, (context: ToolchainContext) => ToolchainSteps>> = {
  node: ({ at, manager }) => ({
    uses: renderSetUpStep(
      'actions/setup-node',
      'Node',
      renderVersionInput(at('.nvmrc', '.node-version', '.tool-versions'), 'node-version', 'lts/*'),
      ['package-manager-cache: false'], // a cache would keep files that an experiment left
    ),
    ...installNodeManager(manager),
  }),
  python: ({ at, manager }) => ({
    uses: renderSetUpStep(
      'actions/setup-python',
      'Python',
      renderVersionInput(at('.python-version'), 'python-version', '3.x'),
    ),
    ...(manager === 'uv' || manager === 'poetry' || manager === 'pipenv'
      ? { run: `pipx install ${manager}` }
      : {}),
  }),
  go: ({ at }) => ({
    uses: renderSetUpStep(
      'actions/setup-go',
      'Go',
      renderVersionInput(at('go.work', 'go.mod'), 'go-version', 'stable'),
      ['cache: false'],
    ),
  }),
  rust: () => ({
    run: 'rustup show active-toolchain || rustup toolchain install stable --profile minimal',
  }),
  java: ({ at }) => ({
    uses: renderSetUpStep('actions/setup-java', 'Java', [
      'distribution: temurin',
      ...renderVersionInput(at('.java-version'), 'java-version', '21'),
    ]),
  }),
  c: () => ({ run: 'cc --version' }),
  ruby: () => ({ run: 'ruby --version && bundle --version' }),
  shell: () => ({ run: 'bash --version' }),
}

export function buildToolchain(
  { findings }: Pick<DetectedProject, 'findings'>,
  { repository, directory }: ProjectLocation,
): Toolchain {
  const folders = directory === '' ? [''] : [`${directory}/`, '']
  const at = (...names: string[]) => {
    const candidates = folders.flatMap(folder => names.map(name => `${folder}${name}`))
    return candidates.find(path => repository.paths.includes(path)) ?? null
  }
  const { uses, run } = BY_LANGUAGE[findings.language]({ at, manager: findings.manager })
  const installs =
    run === undefined
      ? []
      : [`    - name: Set up ${findings.manager ?? findings.language}\n      shell: bash\n      run: ${run}`]
  return { steps: [...(uses === undefined ? [] : [uses]), ...installs] }
}

function renderSetUpStep(action: PinnedAction, what: string, ...inputs: string[][]): string {
  const lines = inputs.flat().map(line => `        ${line}`)
  return [
    `    - name: Set up ${what}`,
    `      uses: ${formatPinnedAction(action)}`,
    '      with:',
    ...lines,
  ].join('\n')
}

/** Uses the version file of the project, or else a version that is always available. */
function renderVersionInput(file: string | null, input: string, fallback: string): string[] {
  return file === null
    ? [`${input}: '${fallback}'`]
    : [`${input}-file: ${JSON.stringify(`${CLONE_DIRECTORY}/${file}`)}`]
}

const ADHOC = ' # zizmor: ignore[adhoc-packages] name a version after an @ to pin it'

function installNodeManager(manager: string | null): Pick<ToolchainSteps, 'run'> {
  if (manager === 'pnpm' || manager === 'yarn') return { run: `corepack enable ${manager}` }
  if (manager === 'bun') return { run: `npm install --global bun${ADHOC}` }
  return {}
}
