import { dirname } from 'node:path'

/** Names that lead to the repository, wherever it lies and by whatever key, to the job that runs us, or to a registry. */
const WITHHELD =
  /^(?:GIT|GITHUB|GITLAB|BITBUCKET|GITEA|ACTIONS|INPUT|RUNNER|SSH)_|^(?:GH|GH_ENTERPRISE|HUB|CI_JOB|NPM|NODE_AUTH)_TOKEN$/

/**
 * A proposer may hold a model key and nothing that writes to the repository (design section 4). The ceiling
 * keeps its git from finding a repository above its own, should it remove that.
 */
export function buildAgentEnvironment(
  env: Readonly<Record<string, string>>,
  place: { tree: string; brief: string },
): Record<string, string> {
  const passed = Object.entries(env).filter(([name]) => !WITHHELD.test(name))
  return {
    ...Object.fromEntries(passed),
    PWD: place.tree,
    WINNOW_BRIEF: place.brief,
    GIT_CEILING_DIRECTORIES: dirname(place.tree),
    GIT_TERMINAL_PROMPT: '0',
  }
}
