import type { Preset } from '../../ideas/proposers.ts'
import type { DetectedProject } from '../detect.ts'
import type { Language, ProjectLocation } from '../project.ts'
import type { GithubSetup } from './setup.ts'
import { CLONE_DIRECTORY, formatPinnedAction, type PinnedAction } from './steps.ts'

/**
 * Sets up what a measuring job needs. GitHub takes it from the default branch, never from an experiment. It
 * restores no cache: a measuring job of the same branch could have saved it, and side users cannot read it.
 */
export function renderSetupAction(steps: Toolchain): string {
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
description: Sets up the programs that propose ideas.
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
export type Toolchain = readonly string[]

type FindVersionFile = (...names: string[]) => string | null

const BY_LANGUAGE: Readonly<Record<Language, (find: FindVersionFile, tool: string) => string>> = {
  node: find => {
    const version = renderVersionInput(find('.nvmrc', '.node-version', '.tool-versions'), 'node', 'lts/*')
    // A cache would keep files that an experiment left.
    return renderSetUpStep('actions/setup-node', 'Node', version, 'package-manager-cache: false')
  },
  python: find => {
    const version = renderVersionInput(find('.python-version'), 'python', '3.x')
    return renderSetUpStep('actions/setup-python', 'Python', version)
  },
  go: find => {
    const version = renderVersionInput(find('go.work', 'go.mod'), 'go', 'stable')
    return renderSetUpStep('actions/setup-go', 'Go', version, 'cache: false')
  },
  java: find => {
    const version = renderVersionInput(find('.java-version'), 'java', '21')
    return renderSetUpStep('actions/setup-java', 'Java', 'distribution: temurin', version)
  },
  rust: (_, tool) =>
    renderStep(
      `Set up ${tool}`,
      'rustup show active-toolchain || rustup toolchain install stable --profile minimal',
    ),
  c: (_, tool) => renderStep(`Set up ${tool}`, 'cc --version'),
  ruby: (_, tool) => renderStep(`Set up ${tool}`, 'ruby --version && bundle --version'),
  shell: (_, tool) => renderStep(`Set up ${tool}`, 'bash --version'),
  text: () => renderStep('Set up Node', 'node --version'),
}

/** Package managers that do not come with their language. */
const MANAGER_INSTALLS: ReadonlyMap<string | null, string> = new Map([
  ['pnpm', 'corepack enable pnpm'],
  ['yarn', 'corepack enable yarn'],
  ['bun', 'npm install --global bun # zizmor: ignore[adhoc-packages] name a version after an @ to pin it'],
  ['uv', 'pipx install uv'],
  ['poetry', 'pipx install poetry'],
])

export function buildToolchain(
  { findings: { language, manager } }: Pick<DetectedProject, 'findings'>,
  { repository, directory }: ProjectLocation,
): Toolchain {
  const folders = directory === '' ? [''] : [`${directory}/`, '']
  const find = (...names: string[]) => {
    const candidates = folders.flatMap(folder => names.map(name => `${folder}${name}`))
    return candidates.find(path => repository.paths.includes(path)) ?? null
  }
  const install = MANAGER_INSTALLS.get(manager)
  return [
    BY_LANGUAGE[language](find, manager ?? language),
    ...(install === undefined ? [] : [renderStep(`Set up ${manager}`, install)]),
  ]
}

function renderSetUpStep(action: PinnedAction, what: string, ...inputs: string[]): string {
  return [
    `    - name: Set up ${what}`,
    `      uses: ${formatPinnedAction(action)}`,
    '      with:',
    ...inputs.map(line => `        ${line}`),
  ].join('\n')
}

/** Uses the version file of the project, or else a version that is always available. */
function renderVersionInput(file: string | null, language: string, fallback: string): string {
  return file === null
    ? `${language}-version: '${fallback}'`
    : `${language}-version-file: ${JSON.stringify(`${CLONE_DIRECTORY}/${file}`)}`
}
