# Runs the commands 0.cmd, 1.cmd, … each with `sh -c` at the repository's root, whatever the ones before said.
# Exit codes go to our own output, marked with a word that the commands are not told.
# Where there is N.first, it brings the tree from the base to the result before command N: done only where one before
# was red, since what is green on the base needs no second look.
check=$GRACE_CHECK out=$GRACE_OUT root=$GRACE_REPO
read -r word <"$check/word"
export GRACE_PYTHON="$check/python"
export PYTHONPATH="$GRACE_PYTHON"
number=0 red=0
while [ -f "$check/$number.cmd" ]; do
    if [ -f "$check/$number.first" ]; then
        [ "$red" = 1 ] || break
        (cd "$root" && sh "$check/$number.first") || break
    fi
    : >"$out/$number.begin"
    mkdir -p "$out/$number.reports"
    (
        cd "$root" || exit 125
        export GRACE_NUMBER="$number" GRACE_JUNIT="$out/$number.own.xml" GRACE_REPORTS="$out/$number.reports"
        exec sh -c "$(cat "$check/$number.cmd")"
    ) >"$out/$number.log" 2>&1 </dev/null
    code=$?
    [ "$code" = 0 ] || red=1
    : >"$out/$number.end"
    printf '\n%s %s %s\n' "$word" "$number" "$code"
    number=$((number + 1))
done
