import type { Step } from './parsed.ts'

/** The scripts and environments of steps that hold a right, as they must be to the letter. */

const HOSTED_LINUX = "runner.environment == 'github-hosted' && runner.os == 'Linux'"

/** The token is in the environment of this step alone, and in no file. */
const CLONE = `url="$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"
login="$(printf 'x-access-token:%s' "$GITHUB_TOKEN" | base64 | tr -d '\\n')"
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="http.$url.extraheader" GIT_CONFIG_VALUE_0="Authorization: Basic $login"
rm -rf repository
git clone --quiet "$url" repository
`

export function isCloning({ run, env }: Step): boolean {
  const token = { GITHUB_TOKEN: '$' + '{{ github.token }}', GIT_LFS_SKIP_SMUDGE: '1' }
  return run === CLONE && JSON.stringify(env) === JSON.stringify(token)
}

/** PATH finds programs in these folders, and images of GitHub let every user write to them. */
const CLOSES_FOLDERS =
  'for folder in /opt /usr/share; do\n  if test -e "$folder"; then sudo chmod -R o-w "$folder"; fi\ndone\n'

export function isGivingUpRoot(step: Step): boolean {
  const run = step.run ?? ''
  const isChecked = /sudoers\.d\/zz-winnow[^]*if sudo -n true[^]*exit 1/.test(run)
  return isChecked && run.startsWith(CLOSES_FOLDERS) && step['if'] === HOSTED_LINUX
}

/** Nothing but that, in groups of their own, with no way to log in; and one that fails, fails the step. */
const MAKES_USERS =
  /^sudo sh -ec 'for n in [1-6 ]+; do useradd --system --user-group --no-create-home --home-dir \/nonexistent --shell \/usr\/sbin\/nologin winnow-\$n; done'\n?$/

export function isMakingUsers(step: Step): boolean {
  const run = step.run ?? ''
  const isClosed = run.startsWith(CLOSES_FOLDERS) && step['if'] === HOSTED_LINUX
  return isClosed && MAKES_USERS.test(run.slice(CLOSES_FOLDERS.length))
}

/** Before the users of sides are there, and with the runner's own packages alone. */
export function isInstallingCounter(step: Step): boolean {
  const isKnown = step.run === 'sudo apt-get update --quiet && sudo apt-get install --yes --quiet valgrind'
  return isKnown && step['if'] === HOSTED_LINUX && step.env === undefined
}

/** Writes what two jobs of winnow put out, and nothing else, into a file. */
export function isListingSubjects({ run, env, uses, with: given }: Step): boolean {
  const wanted = {
    TICK: '$' + '{{ needs.tick.outputs.ledger }}',
    SETTLE: '$' + '{{ needs.settle.outputs.ledger }}',
  }
  const isKnown = run === `printf '%s\\n' "$TICK" "$SETTLE" | sed '/^$/d' > subjects.txt`
  return (
    isKnown && JSON.stringify(env) === JSON.stringify(wanted) && uses === undefined && given === undefined
  )
}

export const MODEL_KEY_ALONE = { WINNOW_MODEL_KEY: '$' + '{{ secrets.WINNOW_MODEL_KEY }}' }

export function isAskingForScores({ env }: Step): boolean {
  const wanted = {
    WINNOW_MODEL_URL: '$' + '{{ vars.WINNOW_MODEL_URL }}',
    WINNOW_MODEL_PRICE: '$' + '{{ vars.WINNOW_MODEL_PRICE }}',
    ...MODEL_KEY_ALONE,
  }
  return JSON.stringify(env) === JSON.stringify(wanted)
}
