#!/bin/sh
# Draws the pictures of the docs from their text: *.msc with mscgen, *.dot with graphviz. Colours become
# classes, so that each picture follows the reader's light or dark theme. `./dev build` first: muster draws
# queues.svg.
set -eu
cd "$(dirname "$0")"

style='<style>.paper{fill:#ffffff}.ink{fill:#24292f}.line{stroke:#57606a}text{font-family:system-ui,sans-serif}
@media (prefers-color-scheme:dark){.paper{fill:#0d1117}.ink{fill:#e6edf3}.line{stroke:#8b949e}}</style>'

themed() {
	awk -v style="$style" '
		{ gsub(/fill="(white|#ffffff)"/, "class=\"paper\""); gsub(/fill="(black|#000000)"/, "class=\"ink\"")
		  gsub(/stroke="(black|#000000)"/, "class=\"line\""); gsub(/ textLength="[0-9]*"/, "")
		  gsub(/ font-family="[^"]*"/, ""); gsub(/class="ink" class="line"/, "class=\"ink line\"") }
		/^<text/ && !/class=/ { sub(/^<text/, "<text class=\"ink\"") }
		{ print }
		/^ *(xmlns|viewBox|stroke-width).*>$/ && !done { print style; done = 1 }' >"$1"
}

# mscgen puts the text onto the line of its arrow; three pixels higher it is legible in any font.
lifted() {
	awk '/^<text/ { match($0, / y="[0-9]+"/); y = substr($0, RSTART + 4, RLENGTH - 5) - 3
		        sub(/ y="[0-9]+"/, " y=\"" y "\"") } { print }'
}

for text in *.msc; do
	mscgen -T svg -i "$text" -o - | lifted | themed "${text%.msc}.svg"
done
for text in *.dot; do
	dot -Tsvg "$text" | themed "${text%.dot}.svg"
done
../../build/release/muster simulate --shares queues.svg ../../examples/queues.yaml >/dev/null
