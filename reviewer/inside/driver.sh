# Runs the commands 0.cmd, 1.cmd, … each with `sh -c` at the repository's root, whatever the ones before said.
# Exit codes go to our own output, marked with a word that the commands are not told.
check=$GRACE_CHECK out=$GRACE_OUT root=$GRACE_REPO
read -r word <"$check/word"
export GRACE_PYTHON="$check/python"
export PYTHONPATH="$GRACE_PYTHON"
number=0
while [ -f "$check/$number.cmd" ]; do
    : >"$out/$number.begin"
    (
        cd "$root" || exit 125
        export GRACE_NUMBER="$number" GRACE_JUNIT="$out/$number.own.xml"
        exec sh -c "$(cat "$check/$number.cmd")"
    ) >"$out/$number.log" 2>&1 </dev/null
    code=$?
    : >"$out/$number.end"
    printf '\n%s %s %s\n' "$word" "$number" "$code"
    number=$((number + 1))
done
