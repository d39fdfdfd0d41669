import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What GitHub refuses of a push, as a real hook: a GITHUB_TOKEN may bring no commit that is new here and has other
 * workflow files than the one before it, as a merge of a branch that changed them; and nobody moves a protected branch
 * (their names are lines of the file `protected`).
 */
const HOOK = `#!/bin/sh
while read -r old new ref; do
  branch=\${ref#refs/heads/}
  if [ -f protected ] && grep -qxF "$branch" protected; then
    echo "error: GH006: Protected branch update failed for $ref."
    echo "- Changes must be made through a pull request."
    exit 1
  fi
  case "$REMOTE_USER/$new" in
    actions/*[!0]*) ;;
    *) continue ;;
  esac
  for commit in $(git rev-list "$new" --not --all); do
    before=$(git rev-parse -q --verify "$commit^1^{tree}" || git mktree </dev/null)
    path=$(git diff-tree -r --diff-filter=d --name-only "$before" "$commit^{tree}" -- .github/workflows | head -1)
    [ -z "$path" ] && continue
    echo "refusing to allow a GitHub App to create or update workflow \\\`$path\\\` without \\\`workflows\\\` permission"
    exit 1
  done
done
`

export function installHook(dir: string): void {
  const file = join(dir, 'hooks', 'pre-receive')
  writeFileSync(file, HOOK)
  chmodSync(file, 0o755)
}
