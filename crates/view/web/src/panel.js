// Buttons, slider and keys.

const find = (id) => document.getElementById(id);

// `actions`: contacts(on), follow(on), reset().
export function panel(player, actions) {
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
  const toggle = (id, action) => () => {
    const on = find(id).getAttribute("aria-pressed") !== "true";
    find(id).setAttribute("aria-pressed", on);
    action(on);
  };
  const jump = (frame) => {
    player.pause();
    player.seek(frame);
  };
  const [contacts, follow] = [toggle("contacts", actions.contacts), toggle("follow", actions.follow)];

  scrub.max = player.motion.count - 1;
  scrub.addEventListener("input", act(() => jump(scrub.valueAsNumber)));
  play.addEventListener("click", act(() => player.toggle()));
  speed.addEventListener("change", act(() => (player.speed = Number(speed.value))));
  find("contacts").addEventListener("click", act(contacts));
  find("follow").addEventListener("click", act(follow));
  find("reset").addEventListener("click", act(actions.reset));

  const keys = {
    " ": () => player.toggle(),
    ArrowLeft: (event) => jump(player.frame - (event.shiftKey ? 10 : 1)),
    ArrowRight: (event) => jump(player.frame + (event.shiftKey ? 10 : 1)),
    Home: () => jump(0),
    End: () => jump(player.motion.count - 1),
    c: contacts,
    f: follow,
    r: actions.reset,
  };
  window.addEventListener("keydown", (event) => {
    const work = keys[event.key];
    if (!work || event.ctrlKey || event.metaKey || event.altKey) return;
    // who goes from button to button by keys wants them to work as usual
    if (event.target.tagName === "SELECT" || (event.target.tagName === "BUTTON" && event.key === " ")) return;
    event.preventDefault(); // else the slider in focus would act as well
    act(work)(event);
  });
  return refresh;
}
