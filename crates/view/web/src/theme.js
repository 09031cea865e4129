// Light and dark.

import { Color } from "three";

const THEMES = {
  light: { horizon: "#e4eaf1", zenith: "#a9c1dc", ground: "#ffffff", light: 1 },
  dark: { horizon: "#1b222b", zenith: "#0b0f14", ground: "#39424e", light: 0.8 },
};

export const prefersDark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;

// `dome` is the sky, `grounds` are materials of planes, `lights` all lights.
export function theme(dark, { dome, grounds, lights }) {
  const { horizon, zenith, ground, light } = THEMES[dark ? "dark" : "light"];
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  dome.paint(horizon, zenith);
  grounds.forEach((material) => (material.color = new Color(ground)));
  lights.forEach((lamp) => {
    lamp.userData.full ??= lamp.intensity;
    lamp.intensity = light * lamp.userData.full;
  });
}
