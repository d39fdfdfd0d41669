import type { Preset } from '../../propose/presets.ts'
import type { GithubSetup } from './github-setup.ts'

/** As their makers say; a version of one's own choice follows the name. */
const INSTALLED_BY = {
  claude: 'npm install --global @anthropic-ai/claude-code',
  codex: 'npm install --global @openai/codex',
  gemini: 'npm install --global @google/gemini-cli',
  copilot: 'npm install --global @github/copilot',
  opencode: 'npm install --global opencode-ai',
  aider: 'pipx install aider-chat',
} as const satisfies Record<Preset, string>

const NEWEST = ' # zizmor: ignore[adhoc-packages] the newest version, unless you name one'

/** By itself, and not with the tool chain: no job that measures has an agent. */
export function renderAgentsAction({ specs }: Pick<GithubSetup, 'specs'>): string {
  const presets = specs.flatMap(({ propose }) =>
    propose.flatMap(one =>
      one.use === 'command' && one.command === undefined && one.preset !== undefined ? [one.preset] : [],
    ),
  )
  const steps = [...new Set(presets)].map(preset =>
    renderStep(`Install ${preset}`, `${INSTALLED_BY[preset]}${NEWEST}`),
  )
  return `# Written once by \`winnow init --github\` from the specs, and yours from then on: winnow never touches it again.
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
