// Play, seek, speed, and the keys of all buttons.

const find = (id) => document.getElementById(id);

// `keys`: what further keys do.
export function panel(player, keys) {
  const [play, scrub, time, speed] = ["play", "scrub", "time", "speed"].map(find);
  const digits = (seconds) => seconds.toFixed(player.motion.end < 100 ? 3 : 2);
  const refresh = () => {
    play.classList.toggle("playing", player.playing);
    scrub.value = player.frame;
    time.value = `${digits(player.time)} / ${digits(player.motion.end)} s`;
  };
  const act = (work) => (event) => {
    work(event);
    refresh();
    if (event.type === "click" && event.detail > 0) event.currentTarget.blur(); // else the space bar would press it again
  };
  const jump = (frame) => {
    player.pause();
    player.seek(frame);
  };

  scrub.max = player.motion.count - 1;
  scrub.addEventListener("input", act(() => jump(scrub.valueAsNumber)));
  play.addEventListener("click", act(() => player.toggle()));
  speed.addEventListener("change", act(() => (player.speed = Number(speed.value))));
  find("reset").addEventListener("click", act(keys.r));

  const all = {
    " ": () => player.toggle(),
    ArrowLeft: (event) => jump(player.frame - (event.shiftKey ? 10 : 1)),
    ArrowRight: (event) => jump(player.frame + (event.shiftKey ? 10 : 1)),
    Home: () => jump(0),
    End: () => jump(player.motion.count - 1),
    ...keys,
  };
  window.addEventListener("keydown", (event) => {
    const work = all[event.key];
    if (!work || event.ctrlKey || event.metaKey || event.altKey) return;
    // who goes from button to button by keys wants them to work as usual
    const { tagName, id } = event.target;
    if (tagName === "SELECT" || (["BUTTON", "SUMMARY"].includes(tagName) && event.key === " ")) return;
    if (tagName === "INPUT" && id !== "scrub" && event.key.startsWith("Arrow")) return;
    event.preventDefault(); // else the slider in focus would act as well
    act(work)(event);
  });
  return refresh;
}
