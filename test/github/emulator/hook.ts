import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What GitHub refuses of a push, as a real hook: a GITHUB_TOKEN may bring no workflow file that no branch has
 * yet, and nobody moves a protected branch (their names are lines of the file `protected`).
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
  git ls-tree -r "$new" -- .github/workflows | while read -r mode type blob path; do
    for tip in $(git for-each-ref --format='%(objectname)' refs/heads); do
      [ "$(git ls-tree "$tip" -- "$path" | cut -f1)" = "$mode $type $blob" ] && continue 2
    done
    echo "refusing to allow a GitHub App to create or update workflow \\\`$path\\\` without \\\`workflows\\\` permission"
    exit 1
  done || exit 1
done
`

export function installHook(dir: string): void {
  const file = join(dir, 'hooks', 'pre-receive')
  writeFileSync(file, HOOK)
  chmodSync(file, 0o755)
}
